// Measures the page with everything of 4,096 ranks, as a table in Markdown for docs/html.md:
//     TINYPROF_PAGES=target/browser node tests/measure.js PAGE ...
// scripts/browser.sh --measure makes the pages and runs it. Each number is the least and the median of some openings.

import { statSync } from "node:fs";
import { join } from "node:path";
import { PAGES, goTo, launch, open, viewsOf } from "./browser.js";

const OPENINGS = 7;

const names = process.argv.slice(2);
const browser = await launch();
const rows = new Map();
const add = (row, name, value) => rows.set(row, { ...rows.get(row), [name]: [...(rows.get(row)?.[name] ?? []), value] });

for (const name of names) {
  rows.set("size of the page, MB", { ...rows.get("size of the page, MB"), [name]: [statSync(join(PAGES, `${name}.html`)).size / 1e6] });
  for (let opening = 0; opening < OPENINGS; opening += 1) {
    let client;
    const beforeOpening = async (page) => {
      client = await page.context().newCDPSession(page);
      await client.send("Performance.enable");
    };
    const begun = performance.now();
    const { page } = await open(browser, name, { beforeOpening });
    add("until it is drawn, from disk, ms", name, performance.now() - begun);
    const { metrics } = await client.send("Performance.getMetrics");
    const ms = (metric) => 1000 * metrics.find((one) => one.name === metric).value;
    add("processor time until then, ms", name, ms("TaskDuration"));
    add("of it scripts, ms", name, ms("ScriptDuration"));
    add("first contentful paint, ms", name, await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
    const views = await viewsOf(page);
    for (const times of ["first time", "later"]) {
      for (const view of views) {
        const since = performance.now();
        await goTo(page, view);
        add(`*${await page.textContent(`#tab-${view}`)}*, ${times}, ms`, name, performance.now() - since);
      }
    }
    await page.context().close();
  }
}
await browser.close();

const middle = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const cell = (row, values) => {
  if (values === undefined) return "";
  return values.length === 1 ? values[0].toFixed(2) : `${Math.min(...values).toFixed(0)}, ${middle(values).toFixed(0)}`;
};
console.log(`| | ${names.join(" | ")} |\n|---|${"---:|".repeat(names.length)}`);
for (const [row, of] of rows) console.log(`| ${row} | ${names.map((name) => cell(row, of[name])).join(" | ")} |`);
