// The layout of every view, as facts that are the same with the fonts of every machine: nothing is wider than the screen,
// cut off, or printed over something else.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PAGES, goTo, launch, open, settled, viewsOf } from "./browser.js";
import { faults } from "./layout.js";

const SIZES = [[1280, 800], [3840, 2160], [390, 844]];

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

for (const name of ["wide", "one", "empty", "fft", "many-events", "many-messages", "metrics", "several", "hostile"].filter((name) => existsSync(join(PAGES, `${name}.html`)))) {
  test(`${name}: no view is too wide, cut off, or printed over itself`, async () => {
    const { page, wrong } = await open(browser, name);
    const found = [];
    for (const view of await viewsOf(page)) {
      await goTo(page, view);
      for (const [width, height] of SIZES) {
        await page.setViewportSize({ width, height });
        await settled(page);
        await settled(page);
        found.push(...(await faults(page)).map((fault) => `${view}, ${width}: ${fault}`));
      }
    }
    assert.deepEqual(found, []);
    assert.deepEqual(wrong, []);
    await page.context().close();
  });
}

test("a fault of the layout is found", async () => {
  const { page } = await open(browser, "one");
  const check = async (change, expected) => {
    await page.evaluate(change);
    const found = await faults(page);
    assert.ok(found.some((fault) => expected.test(fault)), `${expected} is not in ${found}`);
    await page.evaluate(() => document.querySelectorAll("main > .fault").forEach((one) => one.remove()));
  };
  const add = (style) => `(() => { const one = document.createElement("p"); one.className = "fault"; one.textContent = "a fault of the layout"; one.style.cssText = ${JSON.stringify(style)}; document.querySelector("main").append(one); })()`;
  await check(add("width: 3000px"), /^the page is \d+ wide/);
  await check(add("width: 40px; overflow: hidden; white-space: nowrap"), /is cut off$/);
  await check(add("width: 40px; overflow: hidden; white-space: nowrap; text-overflow: ellipsis"), /nothing has the rest$/);
  await check(add("position: absolute; margin: 0; top: 20px; left: 20px; font-size: 30px"), /overlap$/);
  assert.deepEqual(await faults(page), []);
  await page.context().close();
});
