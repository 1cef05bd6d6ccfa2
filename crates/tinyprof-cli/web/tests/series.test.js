// Iterations and executions: the line and the map share their columns, and what is slow is named. Ranks: what was never
// visited, and colours that can be told apart without hues.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { goTo, launch, open, reportOf, screenshot, settled, toldAt, viewsOf } from "./browser.js";
import { time } from "../src/numbers.js";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

async function shareColumns(page) {
  const [line, map] = await Promise.all(["#view-iterations .u-over", "#view-iterations .grid canvas"].map((place) => page.locator(place).boundingBox()));
  const columns = [];
  for (let x = Math.ceil(line.x) + 1; x < line.x + line.width - 1; x += 7) columns.push(x);
  const told = async ({ y, height }) => (await toldAt(page, columns.map((x) => [x, y + height / 2]))).map((text) => /^iteration \d+/.exec(text)?.[0]);
  const above = await told(line);
  assert.ok(above.every(Boolean), `${above}`);
  assert.deepEqual(await told(map), above);
  return new Set(above).size;
}

for (const width of [1280, 390]) {
  test(`the line and the map beneath share their columns at ${width} pixels, also when zoomed`, async () => {
    const { page, wrong } = await open(browser, "executions", { viewport: { width, height: 1200 } });
    await goTo(page, "iterations");
    assert.equal(await shareColumns(page), 15);
    await page.click("#view-iterations button:text-is('Zoom in')");
    await settled(page);
    assert.equal(await shareColumns(page), 8);
    assert.deepEqual(wrong, []);
    await page.context().close();
  });
}

test("the slowest iterations are ranked, and a click leads to them", async () => {
  const { page, wrong } = await open(browser, "executions");
  await goTo(page, "iterations");
  const rows = await page.$$eval(".slowest tbody tr", (all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
  assert.equal(rows.length, 10);
  assert.deepEqual(rows[0], ["5", "1", "rank 1", "30.6 ms", "15.4 ms", "+189 %"]);
  assert.deepEqual(rows.slice(1, 4).map((row) => row[1]), ["3", "3", "3"]);
  await page.click(".slowest tbody tr:first-child .link");
  assert.match(await page.textContent("#selected"), /step.*rank 1/);
  assert.match(await page.textContent("#view-iterations"), /Lines:.*rank 1/);
  await page.focus("#view-iterations .chart");
  for (let step = 0; step < 6; step += 1) await page.keyboard.press("ArrowRight");
  assert.match(await page.textContent("#live"), /^iteration 5, .*rank 1: 30\.6 ms$/);
  await screenshot(page, "executions-line");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("among thousands of ranks the slow one has its own line, and no mean hides the others", async () => {
  const { page } = await open(browser, "wide");
  await goTo(page, "iterations");
  for (const [rank, expected] of [["2925", "rank 2925"], ["5", "slowest of ranks 0 to "]]) {
    await page.fill("#view-iterations .rank-field", rank);
    await page.keyboard.press("Enter");
    await page.focus("#view-iterations .chart");
    await page.keyboard.press("ArrowRight");
    assert.ok((await page.textContent("#live")).includes(`, ${expected}`), `${await page.textContent("#live")} has no ${expected}`);
  }
  await page.context().close();
});

test("a metric is shown in place of the time, in its own numbers", async () => {
  const { page, wrong } = await open(browser, "metrics");
  await goTo(page, "iterations");
  const cells = () => page.$$eval("#view-iterations .slowest tbody tr:first-child td", (all) => all.map((cell) => cell.textContent.replaceAll("\u202f", "")));
  const cursor = async () => {
    await page.focus("#view-iterations .chart");
    await page.keyboard.press("ArrowRight");
    return (await page.textContent("#live")).replaceAll("\u202f", "");
  };
  assert.deepEqual((await cells()).slice(0, 3), ["1", "rank 0", "900 ms"]);
  const pick = async (label) => {
    await page.selectOption("#view-iterations .controls select >> nth=1", { label });
    await settled(page);
  };
  await pick("particles");
  assert.deepEqual((await cells()).slice(0, 3), ["1", "rank 1", "1004"]);
  assert.match(await page.textContent("#view-iterations .slowest caption"), /greatest values/);
  assert.match(await cursor(), /^iteration 0, mean 1000, 1000 to 1000, greatest: rank 0$/);
  assert.match(await page.textContent("#view-iterations"), /never visited/);
  // A name from the program is text.
  await pick("<b>residual");
  assert.match(await page.textContent("#view-iterations"), /Colour:.*0\.0625/);
  await screenshot(page, "metrics-residual");
  await pick("Time");
  assert.equal((await cells())[2], "900 ms");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("few ranks are dots, and the slow execution is named", async () => {
  const { page, wrong } = await open(browser, "executions");
  await goTo(page, "executions");
  assert.equal(await page.textContent(".slow-executions"), "Slower than the usual 30.9 ms on the median rank: execution 3 (49.4 ms, +60.0 %).");
  assert.match(await page.textContent("#view-executions .note"), /A dot is a rank/);
  await page.focus("#view-executions .chart");
  for (let step = 0; step < 4; step += 1) await page.keyboard.press("ArrowRight");
  const told = await page.textContent("#live");
  [48, 48.96, 49.92, 50.88].forEach((ms, rank) => assert.ok(told.includes(`rank ${rank}: ${time(ms * 1e6)}`), told));
  // The ranks of an execution differ by 6 % at most, except one.
  const outliers = await page.$$eval(".outliers tbody tr", (rows) => rows.map((row) => row.cells[0].textContent + row.cells[1].textContent));
  assert.deepEqual(outliers, ["rank 11"]);
  await screenshot(page, "executions-dots");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

for (const [colorScheme, sign] of [["light", -1], ["dark", 1]]) test(`${colorScheme}: ranks that never came are hatched, and each step of deviation stands out more than the one before`, async () => {
  const { page } = await open(browser, "executions", { colorScheme });
  await goTo(page, "ranks");
  const legend = await page.$$eval("#view-ranks .legend i", (swatches) =>
    swatches.map((swatch) => ({ text: swatch.parentElement.textContent, hatched: getComputedStyle(swatch).backgroundImage.includes("repeating"), color: getComputedStyle(swatch).backgroundColor })),
  );
  assert.deepEqual(legend.filter(({ hatched }) => hatched).map(({ text }) => text), ["never visited"]);
  assert.deepEqual(legend.map(({ text }) => text)[2], "mean");
  const lightness = legend.slice(0, 5).map(({ color }) => color.match(/\d+/g).map(Number)).map(([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b);
  lightness.slice(1).forEach((light, at) => assert.ok(sign * (light - lightness[at]) > 12, lightness.join(" ")));
  // Pixels of a hatched cell differ, those of a value are equal: "rare" on ranks 3 and 0.
  const colors = await page.$eval("#view-ranks canvas", (canvas) => {
    const scale = canvas.width / canvas.clientWidth;
    const height = (canvas.clientHeight - 20) / 2;
    const row = 18 + height + 4;
    const of = (x) => canvas.getContext("2d").getImageData(x * scale, row * scale, 40, 8).data;
    const different = (pixels) => new Set(Array.from({ length: pixels.length / 4 }, (_, at) => pixels.slice(at * 4, at * 4 + 4).join())).size;
    const right = canvas.clientWidth - 96;
    return { never: different(of(right - 60)), visited: different(of(200)) };
  });
  assert.equal(colors.visited, 1);
  assert.ok(colors.never > 1);
  await page.context().close();
});

test("a run of one rank has no view of ranks", async () => {
  const { page } = await open(browser, "one");
  assert.equal(reportOf("one").ranks, 1);
  assert.deepEqual(await viewsOf(page), ["summary", "tree", "iterations"]);
  await page.context().close();
});
