// Pages of profiles of all kinds: each view is looked at, and its numbers are those of `tinyprof report --json`.

import assert from "node:assert/strict";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PAGES, VIEWS, goTo, launch, open, reportOf, screenshot, settled, viewsOf } from "./browser.js";
import { aboveMean, count, time } from "../src/numbers.js";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const names = ["fft", "tc", "authors", "wide", "one", "damaged"].filter((name) => existsSync(join(PAGES, `${name}.html`)));

/** The cells of a table: text and exact number. */
function cells(page, selector) {
  return page.$$eval(selector, (rows) =>
    rows.map((row) => ({
      row: row.dataset.row,
      name: row.querySelector("th .name")?.textContent,
      numbers: [...row.querySelectorAll("td.number")].map((cell) => ({ text: cell.firstChild.textContent, exact: Number(cell.dataset.exact) })),
    })),
  );
}

function sameNumbers(found, expected, what) {
  expected.forEach(([exact, write], at) => {
    if (exact === null) return;
    assert.equal(found[at].exact, exact, `${what}, number ${at}`);
    assert.equal(found[at].text.replace("~", ""), write(exact), `${what}, text ${at}`);
  });
}

for (const name of names) {
  test(`${name}: every view is drawn, with the numbers of the report`, async () => {
    const { page, wrong } = await open(browser, name);
    const report = reportOf(name);
    const visited = report.callpaths.filter((callpath) => callpath.exclusive_ns !== null);

    const total = await page.$eval(".figure:nth-child(2) .figure-number", (figure) => Number(figure.dataset.exact));
    assert.equal(total, report.total_inclusive_ns);
    const costliest = [...visited].sort((a, b) => b.exclusive_ns.sum - a.exclusive_ns.sum).slice(0, 10);
    const summary = await cells(page, ".costliest tbody tr");
    assert.equal(summary.length, costliest.length);
    costliest.forEach(({ name: region, visits, ranks, exclusive_ns: own, inclusive_ns }, at) => {
      assert.equal(summary[at].name, region);
      sameNumbers(summary[at].numbers, [[visits, count], [inclusive_ns.sum, time], [own.sum, time], [own.mean, time], [own.max, time], [own.imbalance, (part) => aboveMean(part, ranks)]], region);
    });

    await goTo(page, "tree");
    for (const [kind, button] of [["inclusive_ns", "inclusive"], ["exclusive_ns", "exclusive"]]) {
      await page.click(`#view-tree button:has-text("${button}")`);
      const rows = await cells(page, ".tree tbody tr[data-row]");
      assert.ok(rows.length > 0);
      for (const { row, name: shown, numbers } of rows) {
        const callpath = report.callpaths[row];
        assert.equal(shown, callpath.name);
        const spread = callpath[kind] ?? { mean: null, max: null, imbalance: null };
        sameNumbers(numbers, [[callpath.visits, count], [spread.mean, time], [spread.max, time], [spread.imbalance, (part) => aboveMean(part, callpath.ranks)]], callpath.path);
      }
    }

    for (const view of await viewsOf(page)) {
      await goTo(page, view);
      await screenshot(page, `${name}-${view}`);
      assert.ok((await page.$eval(`#view-${view}`, (panel) => panel.textContent.length)) > 40, `${view} says something`);
    }
    assert.deepEqual(wrong, []);
    await page.context().close();
  });
}

test("the heat map tells the slowest rank of a region and its time", async () => {
  const { page, wrong } = await open(browser, "wide");
  const report = reportOf("wide");
  await goTo(page, "ranks");
  // The first row is the region with the most exclusive time; the cursor goes along it to its slowest rank.
  const first = [...report.callpaths].sort((a, b) => b.exclusive_ns.sum - a.exclusive_ns.sum)[0];
  await page.selectOption("#view-ranks select >> nth=1", "rank");
  await page.click(`#tab-tree`);
  await page.click(`.tree tr[data-row="${report.callpaths.indexOf(first)}"]`);
  await goTo(page, "ranks");
  await page.selectOption("#view-ranks select >> nth=1", "selected");
  await page.focus("#view-ranks canvas");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Home");
  const told = await page.textContent("#live");
  const { max, max_rank } = first.exclusive_ns;
  assert.ok(told.includes(`rank ${max_rank} on `), `${told} is not about rank ${max_rank}`);
  assert.ok(told.includes(time(max)), `${told} does not say ${time(max)}`);
  assert.ok(told.includes(first.name), told);
  await page.keyboard.press("Enter");
  assert.ok((await page.textContent("#selected")).includes(`rank ${max_rank}`));
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("hints lead to what they are about", async () => {
  const { page, wrong } = await open(browser, "wide");
  const headlines = await page.$$eval(".hint-headline", (hints) => hints.map((hint) => hint.textContent));
  assert.ok(headlines.some((text) => /^Rank 2925 on node\d+ is slow everywhere$/.test(text)), headlines.join("; "));
  assert.ok(headlines.some((text) => /^write_9 is imbalanced: rank 4051 /.test(text)), headlines.join("; "));
  await page.click('.hint-headline:has-text("write_9 is imbalanced")');
  assert.equal(await page.$eval("#tab-ranks", (tab) => tab.getAttribute("aria-selected")), "true");
  assert.match(await page.textContent("#selected"), /write_9.*rank 4051/);
  await settled(page);
  await screenshot(page, "imbalance");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("an empty profile says so in each view", async () => {
  const { page, wrong } = await open(browser, "empty");
  for (const view of await viewsOf(page)) {
    await goTo(page, view);
    await screenshot(page, `empty-${view}`);
  }
  assert.match(await page.textContent("#view-summary"), /No region was visited/);
  assert.match(await page.textContent("#view-iterations"), /No region has a series/);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("what a damaged profile has lost is told before any number", async () => {
  const { page } = await open(browser, "damaged");
  const first = await page.$eval(".summary > :first-child", (element) => element.textContent);
  assert.match(first, /incomplete/);
  await page.context().close();
});

test("a page with everything of 4,096 ranks and 100 callpaths is below 3 MB", () => {
  const bytes = (name) => statSync(join(PAGES, `${name}.html`)).size;
  // The first has 4,096 ranks and a fifth of the events of the second, which has as many as a page shows. A page with both
  // has at most the bytes of the first, and four fifths of what the second has beside its scripts.
  const both = bytes("all-4096") + 0.8 * (bytes("all-64") - bytes("empty"));
  assert.ok(both <= 3_000_000, `${bytes("all-4096")} and ${bytes("all-64")} B`);
});

test("a page of 4,096 ranks and 100 callpaths is small, and what it costs is reported", async (t) => {
  assert.ok(statSync(join(PAGES, "wide.html")).size <= 2_000_000);
  let client;
  const beforeOpening = async (page) => {
    client = await page.context().newCDPSession(page);
    await client.send("Performance.enable");
  };
  const { page } = await open(browser, "wide", { beforeOpening });
  const { metrics } = await client.send("Performance.getMetrics");
  const seconds = (name) => metrics.find((metric) => metric.name === name).value.toFixed(3);
  t.diagnostic(`CPU until drawn: ${seconds("TaskDuration")} s, of which scripts ${seconds("ScriptDuration")} s`);
  for (const view of [...VIEWS, "ranks"]) await goTo(page, view);
  const drawn = await page.evaluate(() => performance.getEntriesByType("measure").map((m) => `${m.name} ${m.duration.toFixed(0)} ms`));
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime.toFixed(0));
  t.diagnostic(`first contentful paint after ${paint} ms of wall time; ${drawn.join(", ")}`);
  assert.ok(drawn.some((line) => line.startsWith("draw ranks")));
  await page.context().close();
});
