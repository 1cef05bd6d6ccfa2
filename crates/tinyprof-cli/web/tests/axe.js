// The rules of axe-core, for a view of a page.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { settled } from "./browser.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** The rules that depend on colours alone: what else a page has is the same in the dark. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];

/** Returns what violates a rule in the page as it is: the rule, its help, the element, and what would mend it. */
async function violations(page, runOnly) {
  // Evaluated by the debugger: the page's policy allows no script of others.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const found = await page.evaluate((wanted) => window.axe.run(document, { runOnly: wanted, resultTypes: ["violations"] }), runOnly);
  return found.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, html, failureSummary }) => `${id}: ${help}: ${target.join(" ")} ${html.slice(0, 160)} ${failureSummary.split("\n").slice(1).join(" ").trim()}`),
  );
}

/** Returns what violates a rule on a screen, in light and in dark colours, and on a telephone. */
export async function violationsEverywhere(page) {
  const found = [];
  for (const [colorScheme, width, height] of [["light", 1280, 800], ["dark", 1280, 800], ["light", 390, 844]]) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    await settled(page);
    const wanted = colorScheme === "light" ? { type: "tag", values: TAGS } : { type: "rule", values: OF_COLOURS };
    found.push(...(await violations(page, wanted)).map((line) => `${width} ${colorScheme}: ${line}`));
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 800 });
  return found;
}
