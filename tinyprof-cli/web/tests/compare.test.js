// The page of two runs: its numbers are those of `tinyprof diff --json`, and what is selected is selected in both.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { VIEWS, goTo, launch, open, reportOf, screenshot, settled } from "./browser.js";
import { deviation, time } from "../src/numbers.js";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

test("two runs are compared with the numbers of diff", async () => {
  const { page, wrong } = await open(browser, "compared");
  await settled(page);
  await screenshot(page, "compared");
  const { callpaths } = reportOf("compared");
  assert.ok(callpaths.some(({ verdict }) => verdict === "new") && callpaths.some(({ interval }) => interval !== null));
  const rows = await page.$$eval(".compare tbody tr", (all) =>
    all.map((row) => ({ name: row.querySelector(".name").textContent, cells: [...row.querySelectorAll("td")].map((cell) => cell.textContent) })),
  );
  assert.equal(rows.length, callpaths.length);
  callpaths.forEach(({ name, base, new: later, difference, interval, change, verdict }, at) => {
    const [before_, after_, changed, between, part, word] = rows[at].cells;
    assert.equal(rows[at].name, name);
    assert.deepEqual([before_, after_], [time(base.mean), time(later.mean)]);
    assert.equal(changed, `${difference > 0 ? "+" : ""}${time(difference)}`);
    assert.equal(between, interval === null ? "not known" : `${time(interval[0])} to ${time(interval[1])}`);
    assert.equal(part, deviation(change));
    assert.ok(word.includes(verdict), `${word} is not ${verdict}`);
  });
  await page.click(".compare tbody .link >> nth=1");
  const region = await page.textContent(".compare tbody .link >> nth=1");
  assert.ok((await page.textContent("#selected")).includes(region));
  for (const view of [...VIEWS, "compare"]) await goTo(page, view);
  assert.deepEqual(wrong, []);
  await page.context().close();
});
