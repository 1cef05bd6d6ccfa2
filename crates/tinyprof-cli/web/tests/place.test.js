// The place in the page: a selection is a selection everywhere, it is in the address, and columns sort and are copied.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { goTo, launch, open, reportOf, screenshot, settled } from "./browser.js";
import { addressOf, placeOf } from "../src/place.js";
import { time } from "../src/numbers.js";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const current = (page) => page.$eval("#tabs [aria-selected=true]", (tab) => tab.id.replace("tab-", ""));
const address = (page) => page.evaluate(() => location.hash);

function profileOf(rows) {
  const callpaths = rows.map(([name, parent], row) => ({ name, parent, row, children: [] }));
  callpaths.forEach((callpath) => callpath.parent !== null && callpaths[callpath.parent].children.push(callpath));
  return { callpaths, roots: callpaths.filter(({ parent }) => parent === null), host_of_rank: [0, 0, 0] };
}

test("each place has an address of its own, whatever its names are", () => {
  const names = [["main", null], ["a/b", 0], ["a/b", 0], ["~2", 0], ["<f64>&rank=1#", 3], ["", 4], ["b", 1], ["x".repeat(3000), 1]];
  const profile = profileOf(names);
  const addresses = names.map((_, callpath) => addressOf(profile, { view: "tree", callpath, rank: 2 }));
  assert.equal(new Set(addresses).size, names.length);
  addresses.forEach((text, callpath) => {
    assert.deepEqual(placeOf(profile, text), { view: "tree", callpath, rank: 2 });
    assert.ok(text.length < 2000);
  });
  assert.equal(addresses[2], "#view=tree&callpath=main/a%2Fb~2&rank=2");
  for (const wrong of ["", "#", "#rank=3&callpath=main/c", "#callpath=%zz", "#callpath=~99", "#callpath=main~2&rank=-1"]) {
    assert.deepEqual(placeOf(profile, wrong), { view: null, callpath: null, rank: null }, wrong);
  }
});

test("the place is in the address, Back leads to the one before, and a reload keeps it", async () => {
  const { page, wrong } = await open(browser, "wide");
  assert.equal(await address(page), "#view=summary");
  await goTo(page, "tree");
  await page.click(".tree tr[data-row='2'] .name");
  const { path } = reportOf("wide").callpaths[2];
  assert.equal(await address(page), `#view=tree&callpath=${path.replace("<", "/")}`);
  await goTo(page, "ranks");
  await page.fill("#view-ranks .rank-field", "2925");
  await page.keyboard.press("Enter");
  const last = `#view=ranks&callpath=${path.replace("<", "/")}&rank=2925`;
  assert.equal(await address(page), last);
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  assert.deepEqual([await current(page), await address(page)], ["ranks", last]);
  assert.match(await page.textContent("#selected"), /rank 2925/);
  await page.goBack();
  assert.doesNotMatch(await page.textContent("#selected"), /rank/);
  await page.goBack();
  assert.equal(await current(page), "tree");
  await page.goBack();
  assert.equal(await page.isVisible("#selected"), false);
  await page.goBack();
  assert.equal(await current(page), "summary");
  await page.goForward();
  assert.equal(await current(page), "tree");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("a hint is one step of the Back button, and arrow keys in a view are none", async () => {
  const { page } = await open(browser, "wide");
  await page.click(".hint-headline >> nth=0");
  await settled(page);
  await page.goBack();
  assert.deepEqual([await current(page), await page.isVisible("#selected")], ["summary", false]);
  await goTo(page, "tree");
  await page.focus(".tree tbody tr[tabindex='0']");
  for (let step = 0; step < 4; step += 1) await page.keyboard.press("ArrowDown");
  assert.match(await address(page), /callpath=main\/\w+/);
  await page.goBack();
  assert.equal(await current(page), "summary");
  await page.context().close();
});

test("the selected rank's own numbers are in the tree, and it is marked in the heat maps", async () => {
  const { page, wrong } = await open(browser, "other");
  const { callpaths } = reportOf("other");
  await goTo(page, "ranks");
  const picture = () => page.$eval("#view-ranks canvas", (canvas) => canvas.toDataURL());
  const unmarked = await picture();
  await page.fill("#view-ranks .rank-field", "3");
  await page.keyboard.press("Enter");
  await settled(page);
  assert.notEqual(await picture(), unmarked, "the rank's column is framed");
  await goTo(page, "tree");
  const column = await page.$$eval(".tree thead th", (all) => all.findIndex((heading) => heading.textContent.startsWith("Rank 3")));
  assert.ok(column > 0);
  const found = await page.$$eval(".tree tbody tr[data-row]", (rows, at) => rows.map((row) => [row.dataset.row, row.cells[at].textContent, Number(row.cells[at].dataset.exact)]), column);
  const slowest = found.filter(([row]) => callpaths[row].inclusive_ns.max_rank === 3);
  assert.ok(slowest.length > 0);
  for (const [row, text, exact] of slowest) assert.deepEqual([text, exact], [time(callpaths[row].inclusive_ns.max), callpaths[row].inclusive_ns.max]);
  const sums = new Map();
  for (const rank of ["0", "1", "2", "3"]) {
    await page.fill("#view-tree .rank-field", rank);
    await page.keyboard.press("Enter");
    const times = await page.$$eval(".tree tbody tr[data-row]", (rows, at) => rows.map((row) => [row.dataset.row, Number(row.cells[at].dataset.exact)]), column);
    for (const [row, ns] of times) sums.set(row, (sums.get(row) ?? 0) + ns);
  }
  for (const [row, sum] of sums) assert.ok(Math.abs(sum / callpaths[row].inclusive_ns.sum - 1) < 0.001, `the ranks of callpath ${row} have ${sum}`);
  await page.click("#view-tree button:text-is('rank 3')");
  await settled(page);
  await screenshot(page, "rank-selected-tree");
  await page.click(".tree tbody tr:nth-child(2) .name");
  assert.match(await page.textContent(".detail"), /rank 3.* inclusive, .* exclusive/);
  await goTo(page, "summary");
  assert.ok((await page.$$eval(".costliest .rank [aria-pressed=true]", (all) => all.length)) > 0);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("columns sort in both directions, and the tree keeps its callpaths below each other", async () => {
  const { page } = await open(browser, "other");
  const numbers = (at) => page.$$eval(".costliest tbody tr", (rows, cell) => rows.map((row) => Number(row.cells[cell].dataset.exact)), at);
  for (const direction of ["descending", "ascending"]) {
    await page.click(".costliest thead button:text-is('Mean per rank')");
    const found = await numbers(5);
    const sign = direction === "ascending" ? 1 : -1;
    assert.deepEqual(found, [...found].sort((a, b) => sign * (a - b)), direction);
    assert.equal(await page.getAttribute(".costliest thead th:nth-child(6)", "aria-sort"), direction);
  }
  await page.click(".costliest thead button:text-is('Callpath')");
  const names = await page.$$eval(".costliest tbody .name", (all) => all.map((name) => name.textContent));
  assert.deepEqual(names, [...names].sort());
  await goTo(page, "tree");
  await page.click(".tree thead button:text-is('Callpath')");
  const { callpaths } = reportOf("other");
  const rows = await page.$$eval(".tree tbody tr[data-row]", (all) => all.map((row) => Number(row.dataset.row)));
  const below = rows.filter((row) => callpaths[row].parent === 0).map((row) => callpaths[row].name);
  assert.ok(below.length > 3);
  assert.deepEqual(below, [...below].sort());
  rows.slice(1).forEach((row) => assert.ok(rows.indexOf(callpaths[row].parent) < rows.indexOf(row)));
  await page.context().close();
});

test("copied numbers are plain: unrounded, without units, in columns", async () => {
  const { page } = await open(browser, "other");
  const copied = (selector) =>
    page.evaluate((wanted) => {
      const node = document.querySelector(wanted);
      getSelection().selectAllChildren(node);
      const clipboardData = new DataTransfer();
      node.dispatchEvent(new ClipboardEvent("copy", { clipboardData, bubbles: true, cancelable: true }));
      return clipboardData.getData("text/plain");
    }, selector);
  const [first] = [...reportOf("other").callpaths].sort((a, b) => b.exclusive_ns.sum - a.exclusive_ns.sum);
  assert.equal(await copied(".costliest tbody tr:first-child td:nth-child(4)"), String(first.exclusive_ns.sum));
  const lines = (await copied(".costliest")).split("\n").map((line) => line.split("\t"));
  assert.deepEqual(lines[0].slice(0, 5), ["Callpath", "Visits", "Inclusive [ns]", "Exclusive [ns]", "Share"]);
  assert.equal(lines.length, 11);
  assert.deepEqual(lines[1].slice(1, 4).map(Number), [first.visits, first.inclusive_ns.sum, first.exclusive_ns.sum]);
  assert.ok(lines[1][0].startsWith(first.name));
  await page.context().close();
});
