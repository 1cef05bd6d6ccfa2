// The table of threads: where several worked, and which of them took longest.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, open, screenshot } from "./browser.js";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

test("callpaths in which several threads worked are a table", async () => {
  const { page, wrong } = await open(browser, "metrics");
  const cells = await page.$$eval(".threads tbody tr", (rows) => rows.map((row) => [...row.cells].map((cell) => cell.dataset.exact ?? cell.textContent)));
  // Three threads of rank 1 took 1 s, 1 s and 4 s; the largest visit of all took 0.9 s.
  assert.deepEqual(cells, [["step", "3", "1.5", "4000000000", "1", "1", "900000000"]]);
  await screenshot(page, "threads");
  await page.click(".threads .name:text-is('step')");
  assert.match(await page.textContent("#selected"), /step/);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("a program with one thread has no such table", async () => {
  const { page } = await open(browser, "one");
  assert.equal(await page.$(".threads"), null);
  await page.context().close();
});
