// One vocabulary in all views, that of docs/glossary.md.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { goTo, launch, open, viewsOf } from "./browser.js";

/** Phrases that the glossary has a term for. */
const WRONG = [/\bitself\b/, /\bwith calls\b/, /\bwhat it calls\b/, /\bmean rank\b/i, /\bnever came\b/, /\d\s(ns|µs|ms|s|h) a rank\b/, /\bown cost\b/];

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

for (const name of ["wide", "executions", "several", "wave"]) {
  test(`${name}: every view uses the words of the glossary`, async () => {
    const { page } = await open(browser, name);
    const seen = [];
    for (const view of await viewsOf(page)) {
      await goTo(page, view);
      const text = await page.$eval(`#view-${view}`, (panel) => panel.innerText);
      for (const wrong of WRONG) assert.doesNotMatch(text, wrong, view);
      seen.push(text);
    }
    const all = seen.join("\n").toLowerCase();
    for (const word of ["inclusive", "exclusive", "per rank"]) assert.ok(all.includes(word), word);
    await page.context().close();
  });
}
