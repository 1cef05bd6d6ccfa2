// The view of phases, classes of ranks and their messages.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { goTo, launch, open, screenshot, settled, toldAt } from "./browser.js";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** The table of classes: phase and ranks of each row. */
function classes(page) {
  return page.$$eval(".classes tbody tr", (rows) => rows.map((row) => [...row.children].slice(0, 2).map((cell) => cell.textContent)));
}

async function press(page, ...keys) {
  for (const key of keys) await page.keyboard.press(key);
  return page.textContent("#live");
}

test("a page without edges has no view of structure", async () => {
  const { page, wrong } = await open(browser, "many-messages");
  assert.equal(await page.$$eval("#tab-structure", (tabs) => tabs.length), 0);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("a wave has three phases, and three lanes in the loop", async () => {
  const { page, wrong } = await open(browser, "wave");
  await goTo(page, "structure");
  const rows = await classes(page);
  assert.deepEqual(rows.map(([, ranks]) => ranks), ["0 (1)", "1-7 (7)", "0 (1)", "1-6 (6)", "7 (1)", "0 (1)", "1-7 (7)"]);
  assert.deepEqual(rows.map(([phase]) => phase[0]), ["1", "1", "2", "2", "2", "3", "3"]);
  assert.match(await page.textContent("#view-structure .note"), /^3 phases, 3 lanes/);
  await screenshot(page, "structure");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("what a finding names as the cause is framed, with those who wait, until another one is chosen", async () => {
  const { page, wrong } = await open(browser, "all-4");
  await goTo(page, "structure");
  const drawn = () => page.$eval("#view-structure canvas", (canvas) => canvas.toDataURL());
  assert.match(await page.textContent("#view-structure .note"), /Framed: cause 1 of the summary; .* Rank 2 computes /);
  const framed = await drawn();
  await page.click("#view-structure .choice[aria-label=Cause] button:last-child");
  await settled(page);
  assert.doesNotMatch(await page.textContent("#view-structure .note"), /Framed/);
  assert.notEqual(await drawn(), framed);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("the keyboard goes through the calls of all lanes, and selects", async () => {
  const { page, wrong } = await open(browser, "wave");
  await goTo(page, "structure");
  await page.focus("#view-structure canvas");
  assert.match(await press(page, "ArrowRight"), /^MPI_Init, rank 0, phase 1 /);
  assert.match(await press(page, "ArrowDown"), /^MPI_Init, ranks 1-6, phase 1 .* 1 call per rank/);
  assert.match(await press(page, "ArrowDown"), /^MPI_Init, rank 7/);
  assert.match(await press(page, "ArrowUp", "ArrowRight"), /^MPI_Recv, ranks 1-6, phase 1 .* partners rank 0.*from rank 0: 6 messages, 48\.0 kB/);
  const words = await press(page, "ArrowRight");
  assert.match(words, /^MPI_Isend, ranks 1-6, phase 2 .*50 calls per rank/);
  assert.match(words, /wave › MPI_Isend at step \(wave\.c:30\)/);
  await page.keyboard.press("Enter");
  assert.match(await page.textContent("#selected"), /MPI_Isend at step \(wave\.c:30\)/);
  assert.match(await press(page, "End"), /^MPI_Send, rank 7, phase 3/);
  assert.equal(await press(page, "ArrowRight"), await press(page, "ArrowDown"), "there is nothing beyond");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("the pointer tells calls and messages", async () => {
  const { page, wrong } = await open(browser, "wave");
  await goTo(page, "structure");
  await page.click('#view-structure button:text-is("waiting")');
  const canvas = page.locator("#view-structure canvas");
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  // Along a line between two lanes, which messages cross, and one through the calls of a lane.
  const places = [];
  for (const y of [26 + 92, 26 + 46]) for (let x = 104; x < box.width; x += 3) places.push([box.x + x, box.y + y]);
  const all = [...new Set(await toldAt(page, places))].filter(Boolean);
  assert.ok(all.some((text) => /^from MPI_Isend of ranks 1-6to MPI_Recv of rank 050 messages400 B742 µs waiting/.test(text)), all.join("\n"));
  assert.ok(all.some((text) => /^MPI_Init, rank 0phase 1/.test(text)), all.join("\n"));
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("thirty classes are thirty lanes, on every screen, in light and dark", async () => {
  const { page, wrong } = await open(browser, "uneven", { viewport: { width: 1280, height: 720 } });
  await goTo(page, "structure");
  assert.match(await page.textContent("#view-structure .note"), /3 phases, 30 lanes/);
  for (const [name, size] of [["1280", [1280, 720]], ["2560", [2560, 1440]], ["phone", [390, 800]]]) {
    await page.setViewportSize({ width: size[0], height: size[1] });
    await settled(page);
    await screenshot(page, `structure-30-${name}`, { fullPage: true });
    const [inner, content] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
    assert.ok(content <= inner, `${content} wide on a screen of ${inner}`);
  }
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.click("#theme");
  await settled(page);
  await screenshot(page, "dark-structure-30");
  await page.pdf();
  assert.deepEqual(wrong, []);
  const small = await open(browser, "wave", { colorScheme: "dark", viewport: { width: 2560, height: 1440 } });
  await goTo(small.page, "structure");
  await screenshot(small.page, "dark-structure-wide");
  assert.deepEqual(small.wrong, []);
  await Promise.all([page.context().close(), small.page.context().close()]);
});

test("a program without a series has its loops in the view of iterations", async () => {
  const { page, wrong } = await open(browser, "wave");
  await goTo(page, "iterations");
  const rows = await page.$$eval(".loops tbody tr", (all) => all.map((row) => [...row.children].map((cell) => cell.dataset.exact ?? cell.textContent)));
  const shown = rows.map(([name, ranks, iterations]) => [name.startsWith("loop from MPI_"), Number(ranks), Number(iterations)]);
  assert.deepEqual(shown, [[true, 8, 50]]);
  const [, , , mean, computing, waiting] = rows[0].map(Number);
  assert.ok(mean > 0 && computing > 0 && computing + waiting <= mean, rows[0].join(", "));
  assert.deepEqual(wrong, []);
  await page.context().close();
});
