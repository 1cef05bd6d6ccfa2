// The page of two runs: its numbers are those of `tinyprof diff --json`, and what is selected is selected in both.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PAGES, VIEWS, goTo, launch, open, reportOf, screenshot, settled } from "./browser.js";
import { deviation, percent, time } from "../src/numbers.js";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** The verdict's group: changes first, then what chance may explain, then what is equal. */
const group = (verdict) => ({ unjudged: 1, unclear: 2, equal: 3 })[verdict] ?? 0;

const rowsOf = (page) =>
  page.$$eval(".compare tbody tr", (all) =>
    all.map((row) => ({ name: row.querySelector(".name").textContent, cells: [...row.querySelectorAll("td")].map((cell) => (cell.className === "number" ? cell.firstChild : cell).textContent) })),
  );

/** The widths in CSS pixels of the frames in the first row of both flame graphs. */
const rootWidths = (page) =>
  page.$$eval(".sides canvas", (canvases) =>
    canvases.map((canvas) => {
      const scale = canvas.width / canvas.clientWidth;
      const pixels = canvas.getContext("2d").getImageData(0, 3 * scale, canvas.width, 1).data;
      return Array.from({ length: canvas.width }, (_, x) => pixels[4 * x + 3]).filter((alpha) => alpha > 0).length / scale;
    }),
  );

for (const name of ["compared", "several"]) {
  test(`${name}: the numbers are those of diff, changes first, with all that the terminal says`, async () => {
    const { page, wrong } = await open(browser, name);
    await settled(page);
    await screenshot(page, name);
    const { callpaths, base: runs } = reportOf(name);
    assert.ok(callpaths.some(({ verdict }) => verdict === "new") && callpaths.some(({ interval }) => interval !== null));
    const expected = [...callpaths].sort((a, b) => group(a.verdict) - group(b.verdict) || Math.abs(b.difference) - Math.abs(a.difference));
    const rows = await rowsOf(page);
    assert.equal(rows.length, callpaths.length);
    expected.forEach(({ name: region, base, new: later, difference, interval, change, smallest_change: visible, hedges_g: effect, verdict }, at) => {
      const [before_, after_, changed, between, part, seen, size, word] = rows[at].cells;
      assert.equal(rows[at].name, region);
      assert.deepEqual([before_, after_], [time(base.mean), time(later.mean)]);
      assert.equal(changed, `${difference > 0 ? "+" : ""}${time(difference)}`);
      assert.equal(between, interval === null ? "not known" : `${time(interval[0])} to ${time(interval[1])}`);
      assert.equal(part, deviation(change));
      assert.equal(seen, percent(visible));
      assert.ok(effect === null ? size === "–" : size.includes(Math.abs(effect) < 99.95 ? Math.abs(effect).toFixed(1) : ">100"), `${size} is not ${effect}`);
      assert.ok(word.includes(verdict), `${word} is not ${verdict}`);
    });
    assert.ok(expected.some(({ smallest_change: visible }) => visible >= 0.1), "some change could not have been seen");
    const terminal = readFileSync(join(PAGES, `${name}.txt`), "utf8");
    const words = await page.textContent("#view-compare");
    const notes = terminal.split("\n").filter((line) => line.startsWith("note: "));
    for (const said of [terminal.match(/samples: .*/)[0], ...notes.map((note) => note.slice("note: ".length))]) assert.ok(words.includes(said), `the page does not say: ${said}`);
    for (const { profile } of runs) assert.ok(words.includes(profile), profile);
    const root = callpaths.find(({ depth }) => depth === 0);
    const headline = await page.textContent(".headline");
    for (const said of [time(root.base.mean), time(root.new.mean), deviation(root.change), root.name]) assert.ok(headline.includes(said), headline);
    await page.click(".compare tbody .link >> nth=1");
    const region = await page.textContent(".compare tbody .link >> nth=1");
    assert.ok((await page.textContent("#selected")).includes(region));
    for (const view of [...VIEWS, "compare"]) await goTo(page, view);
    assert.deepEqual(wrong, []);
    await page.context().close();
  });

  test(`${name}: both flame graphs have one scale and one order, and the colours of change`, async () => {
    const { page } = await open(browser, name);
    await settled(page);
    const { callpaths } = reportOf(name);
    const root = callpaths.find(({ depth }) => depth === 0);
    const [before_, after_] = await rootWidths(page);
    assert.ok(Math.abs(before_ / after_ / (root.base.mean / root.new.mean) - 1) < 0.02, `${before_} and ${after_} pixels`);
    // Down to the first callpath, then along its siblings: the names are in one order.
    const orders = [];
    for (const side of [0, 1]) {
      await page.focus(`.sides canvas >> nth=${side}`);
      await page.keyboard.press("Escape");
      if (await page.isVisible("#selected button")) await page.click("#selected button");
      await page.focus(`.sides canvas >> nth=${side}`);
      const names = [];
      for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight"]) {
        await page.keyboard.press(key);
        names.push((await page.textContent("#live")).split(",")[0]);
      }
      orders.push(names);
    }
    assert.deepEqual(orders[0], orders[1]);
    assert.equal(new Set(orders[0]).size, 5);
    // The row below main has more than one colour: some changed, some not.
    const colors = await page.$eval(".sides figure:last-child canvas", (canvas) => {
      const scale = canvas.width / canvas.clientWidth;
      const pixels = canvas.getContext("2d").getImageData(0, (22 + 3) * scale, canvas.width, 1).data;
      return new Set(Array.from({ length: canvas.width }, (_, x) => pixels.slice(4 * x, 4 * x + 3).join())).size;
    });
    assert.ok(colors > 1);
    await page.context().close();
  });
}
