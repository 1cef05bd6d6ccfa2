// Every view by keyboard alone: each control is reached, seen, used, and left again.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, open, settled, viewsOf } from "./browser.js";

const NAMES = ["wide", "one", "empty", "messages", "many-events", "metrics", "several"];
/** More stops than any view has: there is a trap, or a list without an end. */
const STOPS_MAX = 600;

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** Describes the focused element, and numbers it; null if nothing has the focus. */
function focused(page) {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (element === document.body || element === null) return null;
    element.dataset.stop ??= String((window.stops = (window.stops ?? 0) + 1));
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const { left, top, right, bottom } = element.getBoundingClientRect();
    const isSeen = right > 0 && bottom > 0 && left < innerWidth && top < innerHeight && right > left && bottom > top;
    return {
      stop: element.dataset.stop, tag: element.tagName, role: element.getAttribute("role"), pressed: element.getAttribute("aria-pressed"),
      name: `${element.tagName} ${(element.getAttribute("aria-label") ?? element.textContent ?? "").trim().slice(0, 60)} ${element.className}`,
      isSeen, hasOutline: outlineStyle !== "none" && parseFloat(outlineWidth) >= 2,
      inView: element.closest(".view") !== null, inChoice: element.closest(".choice") !== null,
    };
  });
}

/** Goes by Tab from the open tab to the end of the page, calls `use` at each stop of the view, and returns the stops. */
async function walk(page, view, use = () => {}) {
  await page.focus(`#tab-${view}`);
  const stops = new Map();
  for (let at = 0; ; at += 1) {
    assert.ok(at < STOPS_MAX, `${view}: Tab goes on after ${STOPS_MAX} stops`);
    await page.keyboard.press("Tab");
    const stop = await focused(page);
    if (stop === null || !(stop.inView || stop.name.includes("clear"))) return stops;
    assert.ok(!stops.has(stop.stop), `${view}: Tab comes back to ${stop.name}`);
    assert.ok(stop.isSeen, `${view}: ${stop.name} has the focus, and is out of sight`);
    assert.ok(stop.hasOutline, `${view}: ${stop.name} does not show that it has the focus`);
    stops.set(stop.stop, stop);
    await use(stop);
  }
}

/** The controls of a view that no Tab has come to. */
function missed(page, view) {
  return page.$$eval(`#view-${view} :is(a[href], button, input, select, [tabindex="0"])`, (all) =>
    all.filter((one) => one.getClientRects().length > 0 && !one.disabled && one.tabIndex >= 0 && !one.dataset.stop).map((one) => one.outerHTML.slice(0, 120)),
  );
}

/** Gives the focus to the first control of a view whose kind is not among `seen`, and returns it; null if there is none. */
function focusNext(page, view, seen) {
  return page.evaluate(([key, known]) => {
    const kindOf = (one) => (one.tagName === "TR" ? `TR of ${one.closest("table").className}` : `${one.tagName} ${(one.getAttribute("aria-label") ?? one.textContent).trim()} ${one.className}`);
    const all = document.querySelectorAll(`#view-${key} :is(a[href], button, input, select, [tabindex="0"])`);
    const next = [...all].find((one) => one.getClientRects().length > 0 && !one.disabled && one.tabIndex >= 0 && !known.includes(kindOf(one)) && kindOf(one));
    next?.focus();
    return next ? kindOf(next) : null;
  }, [view, seen]);
}

/** Uses what has the focus as a reader would, and checks that the page answers and the focus stays. */
async function used(page, isEmpty, { tag, role, name, pressed, inChoice }) {
  const state = () => page.evaluate(() => document.getElementById("live").textContent);
  if (role === "img") {
    // A picture tells what is under its cursor.
    for (const key of ["ArrowDown", "ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
    await settled(page);
    if (!isEmpty) assert.notEqual(await state(), "", `${name} does not tell what the cursor is on`);
  } else if (tag === "SELECT") {
    await page.keyboard.press("ArrowDown");
  } else if (tag === "BUTTON" && pressed !== null && inChoice) {
    await page.keyboard.press("Enter");
    assert.equal((await focused(page))?.pressed, "true", `${name} is not pressed after Enter`);
  } else if (tag === "TR") {
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
  } else return;
  await settled(page);
  assert.ok((await focused(page)) !== null, `${name} loses the focus when it is used`);
}

for (const name of NAMES) {
  test(`${name}: Tab comes to every control of every view, and out of it`, async () => {
    const { page, wrong } = await open(browser, name, { viewport: { width: 1280, height: 800 } });
    for (const view of await viewsOf(page)) {
      await page.focus("#tabs [aria-selected=true]");
      if (view !== "summary" || name === "several") while ((await page.getAttribute(`#tab-${view}`, "aria-selected")) !== "true") await page.keyboard.press("ArrowRight");
      await settled(page);
      await walk(page, view);
      assert.deepEqual(await missed(page, view), [], `${view} has controls without a stop`);
    }
    assert.deepEqual(wrong, []);
    await page.context().close();
  });

  test(`${name}: every control is used by keys, and keeps the focus`, async () => {
    const { page, wrong } = await open(browser, name, { viewport: { width: 1280, height: 800 } });
    for (const view of await viewsOf(page)) {
      await page.focus(`#tab-${view}`);
      await page.keyboard.press("Enter");
      await settled(page);
      await page.focus(`#tab-${view}`);
      // That Tab comes to all is another test. What is used may change what follows: each kind once, and no count of stops.
      const seen = [];
      for (let at = 0; at < STOPS_MAX; at += 1) {
        const kind = await focusNext(page, view, seen);
        if (kind === null) break;
        seen.push(kind);
        await used(page, name === "empty", await focused(page));
      }
    }
    assert.deepEqual(wrong, []);
    await page.context().close();
  });
}

test("a rank and a callpath are selected by Enter, and the focus stays; clearing leads back to the view", async () => {
  const { page, wrong } = await open(browser, "wide");
  await page.focus("#tab-tree");
  await page.keyboard.press("Enter");
  await page.focus(".tree td.rank button >> nth=2");
  const rank = await page.evaluate(() => document.activeElement.textContent);
  await page.keyboard.press("Enter");
  await settled(page);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), rank);
  assert.match(await page.textContent("#selected"), new RegExp(rank));
  await page.focus("#selected button");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "views");
  await page.keyboard.press("Tab");
  assert.ok(await page.evaluate(() => document.activeElement.closest("#view-tree") !== null));
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("the first Tab leads past the tabs", async () => {
  const { page } = await open(browser, "one");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  assert.ok((await focused(page)).isSeen);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  assert.ok(await page.evaluate(() => document.activeElement.closest("main") !== null));
  await page.context().close();
});
