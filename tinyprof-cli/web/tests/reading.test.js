// The page for all readers: keyboard alone, small screens, dark and light, on paper, with a name as a search.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PAGES, VIEWS, goTo, launch, open, screenshot, settled, viewsOf } from "./browser.js";

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

test("a search counts what it finds, and the selection is in all views", async () => {
  const { page } = await open(browser, "other");
  await goTo(page, "tree");
  await page.fill("#search", "SOLVE");
  assert.match(await page.textContent("#view-tree [role=status]"), /^\d+ match(es)?$/);
  await page.click(".tree tr[data-row='2']");
  const region = await page.$eval(".tree tr[data-row='2'] .name", (name) => name.textContent);
  for (const view of ["iterations", "executions"]) {
    await goTo(page, view);
    assert.equal(await page.$eval(`#view-${view} select`, (list) => list.selectedOptions[0].textContent.split(" › ").at(-1)), region);
  }
  await page.click("#selected button");
  assert.equal(await page.isVisible("#selected"), false);
  await settled(page);
  await page.context().close();
});
