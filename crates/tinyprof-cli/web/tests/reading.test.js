// The page for all readers: keyboard alone, small screens, dark and light, on paper, with a name as a search.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PAGES, VIEWS, goTo, launch, open, reportOf, screenshot, settled, viewsOf } from "./browser.js";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

test("the keyboard alone reaches each view, and moves in it", async () => {
  const { page, wrong } = await open(browser, "one");
  await page.focus("#tab-summary");
  for (const view of (await viewsOf(page)).slice(1)) {
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.evaluate(() => document.activeElement.id), `tab-${view}`);
    assert.equal(await page.isVisible(`#view-${view}`), true);
  }
  await goTo(page, "tree");
  await page.focus("#view-tree .flame canvas");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.match(await page.textContent("#selected"), /main › \w+/);
  await page.focus(".tree tbody tr[tabindex='0']");
  const before = await page.textContent("#selected");
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await page.textContent("#selected"), before);
  const rows = () => page.$$eval(".tree tbody tr", (all) => all.length);
  await page.focus(".tree tbody tr:first-child");
  const open_ = await rows();
  await page.keyboard.press("ArrowLeft");
  assert.ok((await rows()) < open_, "main is closed");
  await goTo(page, "iterations");
  await page.focus("#view-iterations .chart");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.match(await page.textContent("#live"), /^iteration 1, mean /);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("a phone shows everything without scrolling sideways", async () => {
  const { page, wrong } = await open(browser, "wide", { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
  for (const view of VIEWS) {
    await goTo(page, view);
    await screenshot(page, `phone-${view}`);
    const [inner, content] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
    const tab = await page.locator(`#tab-${view}`).boundingBox();
    assert.ok(tab.x >= 0 && tab.x + tab.width <= inner, `the tab of ${view} is in sight`);
    assert.ok(content <= inner, `${view} is ${content} wide on a screen of ${inner}`);
  }
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("dark and light follow the system, and the button", async () => {
  const { page } = await open(browser, "other", { colorScheme: "dark" });
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await paper();
  for (const view of VIEWS) {
    await goTo(page, view);
    await screenshot(page, `dark-${view}`);
  }
  await page.click("#theme");
  assert.notEqual(await paper(), dark);
  await page.click("#theme");
  assert.equal(await paper(), dark);
  await page.context().close();
});

test("on paper all views are there, in light colours", async () => {
  const { page, wrong } = await open(browser, "other", { colorScheme: "dark" });
  await page.evaluate(() => {
    window.seen = null;
    addEventListener("beforeprint", () => {
      const drawn = [...document.querySelectorAll(".view")].map((view) => !view.hidden && view.childElementCount > 1);
      window.seen = { drawn, theme: document.documentElement.dataset.theme };
    });
  });
  await page.pdf({ path: join(PAGES, "screenshots", "paper.pdf"), printBackground: true });
  const seen = await page.evaluate(() => window.seen);
  assert.deepEqual(seen, { drawn: VIEWS.map(() => true), theme: "light" });
  assert.equal(await page.$$eval(".view:not([hidden])", (views) => views.length), 1);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

/** The text of a page on paper, in the lines in which it is printed. */
async function printed(name) {
  const { page, wrong } = await open(browser, name, { colorScheme: "dark" });
  const path = join(PAGES, "screenshots", `${name}.pdf`);
  await goTo(page, "tree");
  await page.focus(".tree tbody tr:first-child");
  await page.keyboard.press("ArrowLeft");
  const rows = await page.$$eval(".tree tbody tr[data-row]", (all) => all.length);
  await page.pdf({ path, printBackground: true, format: "A4" });
  assert.deepEqual(wrong, []);
  await page.context().close();
  return { text: execFileSync("pdftotext", ["-layout", path, "-"], { encoding: "utf8" }), rows };
}

/** What follows the first headings of a table of callpaths. */
const fromHeading = (text) => text.slice(text.search(/^\s*Callpath\s+(Visits|Before)/m));

/** The number of lines that have a name as a word of its own. */
const linesWith = (text, name) => text.split("\n").filter((line) => new RegExp(`(^|\\s)${name}(\\s|$)`).test(line)).length;

for (const name of ["wide", "several"]) {
  test(`${name}: on paper there is a row for each callpath of the tree and of the comparison`, async () => {
    const { text, rows } = await printed(name);
    const { callpaths } = reportOf(name);
    const afterTitle = (title) => text.slice(text.search(new RegExp(`^\\s*${title}$`, "m")));
    const tree = fromHeading(afterTitle("Callpaths")).split(/^\f?\s*Ranks$/m)[0];
    const inTree = callpaths.filter(({ verdict }) => verdict !== "gone");
    assert.deepEqual(inTree.map((row) => [row.name, linesWith(tree, row.name)]), inTree.map((row) => [row.name, 1]));
    assert.equal(rows, 1, "on the screen main is closed");
    const compared = fromHeading(afterTitle("Compare"));
    if (name === "several") assert.deepEqual(callpaths.map((row) => linesWith(compared, row.name) > 0), callpaths.map(() => true));
  });
}

test("a screen of 3840 pixels is used, in all views", async () => {
  for (const name of ["wide", "several"]) {
    const { page, wrong } = await open(browser, name, { viewport: { width: 3840, height: 2160 } });
    for (const view of await viewsOf(page)) {
      await goTo(page, view);
      await screenshot(page, `4k-${name}-${view}`);
      const [inner, content] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
      assert.ok(content <= inner);
      const used = await page.$eval(`#view-${view}`, (panel) => {
        const boxes = [...panel.querySelectorAll("canvas, table, .card")].map((part) => part.getBoundingClientRect()).filter(({ width }) => width > 0);
        return Math.max(...boxes.map(({ right }) => right)) - Math.min(...boxes.map(({ left }) => left));
      });
      assert.ok(used > 3840 * 0.9, `${view} of ${name} uses ${used} pixels`);
    }
    assert.deepEqual(wrong, []);
    await page.context().close();
  }
});

test("a search counts what it finds, and the selection is in all views", async () => {
  const { page } = await open(browser, "other");
  await goTo(page, "tree");
  await page.fill("#search", "SOLVE");
  assert.match(await page.textContent("#view-tree [role=status]"), /^\d+ match(es)?$/);
  await page.click(".tree tr[data-row='2']");
  const region = await page.$eval(".tree tr[data-row='2'] .name", (name) => name.textContent);
  await goTo(page, "iterations");
  assert.equal(await page.$eval("#view-iterations select", (list) => list.selectedOptions[0].textContent.split(" › ").at(-1)), region);
  await page.click("#selected button");
  assert.equal(await page.isVisible("#selected"), false);
  await settled(page);
  await page.context().close();
});
