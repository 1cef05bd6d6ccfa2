// Views look as they did when they were last looked at. All sizes and all runs are compared by `make pictures`; these are
// some.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openLive } from "./live-made-up.js";
import { launch, open, settled, viewsOf } from "./browser.js";
import { ANYWHERE, SIZES, describe, difference, kept, takeView, withOneFont } from "./pictures.js";

let browser;
before(async () => {
  browser = await launch({ env: withOneFont() });
});
after(() => browser.close());

const AGAIN = "if that is how it should look, run `make pictures KEEP=1`, and look at what it has drawn";

for (const [name, sizes, schemes] of [
  ["all-4", ["laptop"], ["light", "dark"]],
  ["all-4", ["telephone"], ["light"]],
  ["all-4096", ["laptop"], ["light"]],
  ["several", ["laptop"], ["light"]],
]) {
  test(`${name}: every view looks as it was kept on the ${sizes}, ${schemes}`, async () => {
    const { page, wrong } = await open(browser, name, ANYWHERE);
    const before = kept(name);
    const found = [];
    for (const view of await viewsOf(page)) {
      await takeView(page, view, { sizes, schemes }, (taken) => {
        const key = `${view} ${taken.size} ${taken.scheme}`;
        const differs = difference(describe(taken), before.get(key), taken.size);
        if (differs) found.push(`${key}: ${differs}`);
      });
    }
    assert.deepEqual(found, [], AGAIN);
    assert.deepEqual(wrong, []);
    await page.context().close();
  });
}

test("the page of a running job looks as it was kept", async () => {
  const { page, end } = await openLive(browser, "all-4", ANYWHERE);
  const before = kept("live-all-4");
  const found = [];
  await takeView(page, "live", { sizes: ["laptop", "telephone"] }, (taken) => {
    const key = `live ${taken.size} ${taken.scheme}`;
    const differs = difference(describe(taken), before.get(key), taken.size);
    if (differs) found.push(`${key}: ${differs}`);
  });
  assert.deepEqual(found, [], AGAIN);
  await end();
});

test("what changes the look of a view is found", async () => {
  const { page } = await open(browser, "all-4", ANYWHERE);
  await page.setViewportSize({ width: SIZES.laptop[0], height: SIZES.laptop[1] });
  const before = kept("all-4");
  const look = async (key) => {
    await settled(page);
    const [, size, scheme] = key.split(" ");
    return difference(describe({ size, scheme, picture: await page.screenshot({ caret: "hide" }) }), before.get(key), size);
  };
  assert.equal(await look("summary laptop light"), "");
  const style = (selector, text) => page.evaluate(([at, css]) => document.querySelectorAll(at).forEach((one) => (one.style.cssText += css)), [selector, text]);
  const changes = [
    [".figure-number", "font-size: 1.9rem"],
    [".hints", "gap: 1.2rem"],
    [".card", "border-color: transparent; background: var(--track)"],
    ["h2", "display: none"],
  ];
  for (const [selector, text] of changes) {
    await style(selector, text);
    assert.notEqual(await look("summary laptop light"), "", `${selector} { ${text} } is not seen`);
    await page.evaluate((at) => document.querySelectorAll(at).forEach((one) => one.removeAttribute("style")), selector);
    assert.equal(await look("summary laptop light"), "", selector);
  }
  await page.context().close();
});
