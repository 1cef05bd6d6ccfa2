// The first view by region, and one convention for means.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PAGES, goTo, launch, open, reportOf, screenshot } from "./browser.js";
import { percent, time } from "../src/numbers.js";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

test("the first view has a table by region, and its headline names the region with the most time", async () => {
  const { page, wrong } = await open(browser, "recursive");
  const report = reportOf("recursive");
  const { regions } = JSON.parse(readFileSync(join(PAGES, "recursive.regions.json"), "utf8"));
  const sorted = regions.sort((a, b) => b.exclusive_ns.sum - a.exclusive_ns.sum);
  const [first] = sorted;
  const [costliest] = [...report.callpaths].sort((a, b) => b.exclusive_ns.sum - a.exclusive_ns.sum);
  assert.notEqual(first.name, costliest.name, "the costliest callpath is of another region");
  const figures = await page.textContent(".figures");
  assert.ok(figures.includes(`${percent(first.exclusive_share)}exclusive in ${first.name}, over ${first.callpaths} callpaths`), figures);
  await page.click("#view-summary button:text-is('region')");
  await screenshot(page, "by-region");
  const rows = await page.$$eval(".by-regions tbody tr", (all) => all.map((row) => [row.querySelector(".name").textContent, row.querySelector(".path").textContent, ...[1, 3, 2].map((at) => Number(row.cells[at].dataset.exact))]));
  const words = (callpaths) => `${callpaths} callpath${callpaths === 1 ? "" : "s"}`;
  assert.deepEqual(rows, sorted.map(({ name, callpaths, visits, exclusive_ns, inclusive_ns }) => [name, words(callpaths), visits, exclusive_ns.sum, inclusive_ns.sum]));
  await page.click(`.by-regions .name:text-is('${first.name}')`);
  assert.match(await page.textContent("#selected"), new RegExp(`${first.name}`));
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("where ranks never came, each mean is told over all ranks, with their number", async () => {
  const { page, wrong } = await open(browser, "executions");
  const { callpaths, ranks } = reportOf("executions");
  const rare = callpaths.find(({ name }) => name === "rare");
  assert.deepEqual([rare.ranks, ranks], [3, 4]);
  const words = `${time(rare.exclusive_ns.sum / ranks)} over all 4 ranks, 1 never runs it`;
  assert.ok((await page.textContent(".costliest")).includes(words));
  await goTo(page, "tree");
  await page.click(".tree .name:text-is('rare')");
  assert.ok((await page.textContent(".tree")).includes(words));
  assert.ok((await page.textContent(".detail")).includes(`mean ${time(rare.exclusive_ns.mean)} over its 3 ranks, ${words}`));
  await page.context().close();

  const { page: compared } = await open(browser, "rare");
  const cells = await compared.$$eval(".compare tbody tr", (rows) => rows.filter((row) => row.querySelector(".name").textContent === "rare").flatMap((row) => [row.cells[1].innerText, row.cells[2].innerText]));
  assert.equal(cells.length, 2);
  const { callpaths: rows } = reportOf("rare");
  const of = rows.find(({ name }) => name === "rare");
  assert.deepEqual(cells.map((text) => text.replace(/\s+/g, " ")), [of.base.mean, of.new.mean].map((ns) => `${time(ns)} over all 4 ranks, 1 never runs it`.replace(/\s+/g, " ")));
  assert.deepEqual(wrong, []);
  await compared.context().close();
});
