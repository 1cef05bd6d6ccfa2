// Callers and what they call: the layout, and the picture in the view of callpaths.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { goTo, launch, open, reportOf, screenshot } from "./browser.js";
import { callGraph, placeCallers } from "../src/callers.js";
import { percent } from "../src/numbers.js";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** A callpath with its time, and those below it. */
let rows = 0;
const callpath = (name, ns, ...children) => ({ row: rows++, name, ns, children });

test("callers of one region meet in it, and all times add up", () => {
  const roots = [callpath("main", 100, callpath("a", 60, callpath("work", 50)), callpath("b", 30, callpath("work", 20), callpath("rest", 5)))];
  const graph = callGraph(roots, ({ ns }) => ns);
  assert.deepEqual(graph.columns.map((bars) => bars.map(({ name, value }) => [name, value])), [[["main", 100]], [["a", 60], ["b", 30]], [["work", 70], ["rest", 5]]]);
  const bands = graph.bands.map(({ from, to, value }) => [from.name, to.name, value]);
  assert.deepEqual(bands, [["main", "a", 60], ["main", "b", 30], ["a", "work", 50], ["b", "work", 20], ["b", "rest", 5]]);

  placeCallers(graph, { width: 300, height: 103 }, 3, 100);
  for (const bar of graph.columns.flat()) assert.ok(Math.abs(bar.y1 - bar.y0 - bar.value) < 1e-9, bar.name);
  for (const { fromY, toY, from, to, value } of graph.bands) {
    assert.ok(Math.abs(fromY[1] - fromY[0] - value) < 1e-9 && Math.abs(toY[1] - toY[0] - value) < 1e-9);
    assert.ok(fromY[0] >= from.y0 && fromY[1] <= from.y1 + 1e-9 && toY[0] >= to.y0 && toY[1] <= to.y1 + 1e-9);
  }
  const [work] = graph.columns[2];
  const into = graph.bands.filter(({ to }) => to === work).map(({ toY }) => toY);
  assert.deepEqual(into, [[0, 50], [50, 70]], "bands do not lie on each other");
});

test("many small regions are one, and nothing is lost", () => {
  const many = Array.from({ length: 100 }, (_, at) => callpath(`r${at}`, 100 - at));
  const { columns, bands } = callGraph([callpath("main", 10000, ...many)], ({ ns }) => ns);
  assert.equal(columns[1].length, 40);
  assert.deepEqual([columns[1][39].name, columns[1][39].regions], [null, 61]);
  assert.equal(bands.reduce((sum, { value }) => sum + value, 0), 5050);
});

test("the picture of callers is reached by keyboard, tells shares, and selects the costliest callpath", async () => {
  const { page, wrong } = await open(browser, "recursive");
  await goTo(page, "tree");
  await page.click("#view-tree button:text-is('callers')");
  await page.focus(".callers canvas");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  const said = await page.textContent("#live");
  assert.match(said, /called by main: 100/);
  // The costliest region below main calls nobody, the one below it calls work.
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  const { callpaths } = reportOf("recursive");
  const works = callpaths.filter(({ name, path }) => name === "work" && path.split("<").length === 3);
  assert.equal(works.length, 2);
  assert.match(await page.textContent("#selected"), /work/);
  await screenshot(page, "callers");
  const sum = works.reduce((total, { inclusive_ns }) => total + inclusive_ns.sum, 0);
  const all = callpaths.filter(({ parent }) => parent === null).reduce((total, { inclusive_ns }) => total + inclusive_ns.sum, 0);
  await page.hover(".callers canvas", { position: await barOf(page, 2) });
  assert.ok((await page.textContent("#tooltip")).includes(`${percent(sum / all)} of all time, 2 callpaths`));
  assert.deepEqual(wrong, []);
  await page.context().close();
});

/** Returns a place in the first bar of a column. */
async function barOf(page, column) {
  const width = await page.$eval(".callers canvas", (canvas) => canvas.clientWidth);
  const columns = 4;
  return { x: (width / columns) * column + 5, y: 5 };
}
