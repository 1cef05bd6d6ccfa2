// Every view satisfies the rules of axe-core: names, roles, contrast, landmarks, what scrolls.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, open, viewsOf, goTo } from "./browser.js";
import { violationsEverywhere } from "./axe.js";

/** Pages that have each view in each form: 4,096 ranks, one, none, messages, events, metrics, two sides. */
const NAMES = ["wide", "one", "empty", "many-messages", "many-events", "metrics", "several"];

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

for (const name of NAMES) {
  test(`${name}: no view violates a rule of axe-core`, async () => {
    const { page, wrong } = await open(browser, name);
    const found = [];
    for (const view of await viewsOf(page)) {
      await goTo(page, view);
      found.push(...(await violationsEverywhere(page)).map((line) => `${view}, ${line}`));
    }
    assert.deepEqual(found, []);
    assert.deepEqual(wrong, []);
    await page.context().close();
  });
}

test("no view violates a rule while a callpath and a rank are selected, and a description is shown", async () => {
  const { page } = await open(browser, "many-events");
  const views = await viewsOf(page);
  await goTo(page, "tree");
  await page.click(".tree tbody tr:nth-child(2) .name");
  await page.fill("#view-tree .rank-field", "1");
  await page.keyboard.press("Enter");
  await page.fill("#search", "MPI");
  const found = [];
  for (const view of views) {
    await goTo(page, view);
    const picture = page.locator(`#view-${view} [role=img]`).first();
    if ((await picture.count()) > 0) {
      await picture.focus();
      for (const key of ["ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
    }
    found.push(...(await violationsEverywhere(page)).map((line) => `${view}, ${line}`));
  }
  assert.deepEqual(found, []);
  await page.context().close();
});
