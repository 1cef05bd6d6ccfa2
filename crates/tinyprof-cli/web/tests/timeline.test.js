// The time line: lanes of known events.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { goTo, launch, open, screenshot, settled, toldAt } from "./browser.js";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

async function press(page, ...keys) {
  for (const key of keys) await page.keyboard.press(key);
  return page.textContent("#live");
}

const range = (page) => page.textContent("#view-timeline [data-place]");

test("a page without events has no time line", async () => {
  const { page, wrong } = await open(browser, "many-messages");
  assert.equal(await page.$$eval("#tab-timeline", (tabs) => tabs.length), 0);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("tinyprof timeline opens with lanes, and tells every visit", async () => {
  const { page, wrong } = await open(browser, "events");
  assert.equal(await page.$eval("#tab-timeline", (tab) => tab.getAttribute("aria-selected")), "true");
  assert.match(await page.textContent("#view-timeline .note"), /^484 visits in 4 lanes\..* 156 messages between lanes, drawn as lines/);
  const rows = await page.$$eval(".in-view tbody tr", (all) => all.map((row) => [...row.querySelectorAll("[data-exact]")].map((cell) => Number(cell.dataset.exact))));
  // Receives, the rest of the exchange, sends, and 5 µs of main on each rank.
  assert.deepEqual(rows.map(([visits, ns]) => [visits, ns]), [[160, 9_440_000], [160, 6_400_000], [160, 160_000], [4, 20_000]]);
  await screenshot(page, "timeline");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("the keyboard goes from visit to visit, zooms to one, and selects", async () => {
  const { page, wrong } = await open(browser, "events");
  await page.focus("#view-timeline canvas");
  assert.match(await press(page, "ArrowRight"), /^main, rank 0, 4\.00 ms, from 0\.000\u202f000\u202f000 s on/);
  assert.match(await press(page, "ArrowRight", "ArrowRight"), /^MPI_Recv, rank 0, 40\.0 µs, from 0\.000\u202f015\u202f000 s on, in main › exchange/);
  const waiting = await press(page, "ArrowDown");
  assert.match(waiting, /^(exchange|MPI_Recv), rank 1, /);
  await press(page, "ArrowUp", "Home", "ArrowRight", "ArrowRight", "z");
  assert.match(await range(page), /48\.0 µs long/);
  await press(page, "Enter");
  assert.match(await page.textContent("#selected"), /MPI_Recv.*rank 0/);
  assert.match(await press(page, "-"), /96\.0 µs long/);
  assert.match(await press(page, "PageDown"), /96\.0 µs long/);
  assert.match(await press(page, "Escape"), /4\.07 ms long/);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("drawing a part with the pointer shows it, and the pointer tells waiting and its cause", async () => {
  const { page, wrong } = await open(browser, "events");
  const box = await page.locator("#view-timeline canvas").boundingBox();
  await page.mouse.move(box.x + 300, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 350, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await settled(page);
  assert.doesNotMatch(await range(page), /4\.07 ms/);
  const places = [];
  for (let x = 120; x < box.width; x += 11) for (let y = 30; y < 240; y += 9) places.push([box.x + x, box.y + y]);
  const all = [...new Set(await toldAt(page, places))].filter(Boolean);
  assert.ok(all.some((text) => /^MPI_Recvrank 140\.0 µs.*of this call on this rank is waiting.*most for rank 0/.test(text)), all.join("\n"));
  assert.ok(all.some((text) => /received 8 B from rank 0, tag 7, sent 110 µs before/.test(text)), all.join("\n"));
  await page.click('#view-timeline button:text-is("Whole run")');
  assert.match(await range(page), /4\.07 ms long/);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("what is left out is counted, drawn as a sum, and told", async () => {
  const { page, wrong } = await open(browser, "many-events");
  await goTo(page, "timeline");
  assert.match(await page.textContent("#view-timeline .note"), /57\u202f600 visits shorter than .* are in this page only as sums/);
  const box = await page.locator("#view-timeline canvas").boundingBox();
  await page.focus("#view-timeline canvas");
  await press(page, "+", "+", "+");
  const places = [];
  for (let x = 120; x < box.width; x += 7) places.push([box.x + x, box.y + 31]);
  const all = [...new Set(await toldAt(page, places))].filter(Boolean);
  assert.ok(all.some((text) => /^mainrank \d+.*shorter visits? begins? in the .* around here: .* in calls of MPI/.test(text)), all.join("\n"));
  assert.match(await page.textContent(".in-view caption"), /about [\d\u202f]+ shorter visits count with what is around them/);
  for (const [name, size] of [["1280", [1280, 720]], ["phone", [390, 800]]]) {
    await page.setViewportSize({ width: size[0], height: size[1] });
    await settled(page);
    await screenshot(page, `timeline-64-${name}`, { fullPage: true });
    const [inner, content] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
    assert.ok(content <= inner, `${content} wide on a screen of ${inner}`);
  }
  await page.click("#theme");
  await settled(page);
  await screenshot(page, "dark-timeline-64");
  await page.pdf();
  assert.deepEqual(wrong, []);
  await page.context().close();
});
