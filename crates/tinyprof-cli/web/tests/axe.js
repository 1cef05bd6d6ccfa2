// The rules of axe-core, for a view of a page.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { settled } from "./browser.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** The rules that depend on colours alone: what else a page has is the same in the dark. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];

/**
 * Returns selectors of rows of tables that differ from two rows before them in nothing but words, numbers and the widths of
 * bars: what is wrong with one is wrong with all, and each takes the rules as long.
 */
function equalRows(page) {
  return page.evaluate(() => {
    document.querySelectorAll("[data-equal]").forEach((row) => row.removeAttribute("data-equal"));
    for (const body of document.querySelectorAll("tbody")) {
      const seen = new Map();
      for (const row of body.rows) {
        const look = makeOf(row);
        seen.set(look, (seen.get(look) ?? 0) + 1);
        if (seen.get(look) > 2) row.dataset.equal = "";
      }
    }
    return document.querySelector("[data-equal]") ? [["[data-equal]"]] : [];

    /** What a row is made of: elements, classes, roles, states, colours; of words, whether there are any. */
    function makeOf(row) {
      return [row, ...row.querySelectorAll("*")].map((one) => {
        const attributes = [...one.attributes].map(({ name, value }) => (/^(class|role|type|aria-(?!label$).*|tabindex|scope|hidden|disabled)$/.test(name) ? `${name}=${value}` : `${name}${value === ""}`));
        const { color, backgroundColor, display } = getComputedStyle(one);
        const hasWords = [...one.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim() !== "");
        return [one.tagName, ...attributes.sort(), color, backgroundColor, display, hasWords].join(" ");
      }).join("\n");
    }
  });
}

/** Returns what violates a rule in the page as it is: the rule, its help, the element, and what would mend it. */
async function violations(page, runOnly) {
  // Evaluated by the debugger: the page's policy allows no script of others.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const exclude = [["[role=tabpanel][hidden]"], ...(await equalRows(page))];
  const found = await page.evaluate(([wanted, equal]) => window.axe.run({ include: [["html"]], exclude: equal }, { runOnly: wanted, resultTypes: ["violations"] }), [runOnly, exclude]);
  return found.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, html, failureSummary }) => `${id}: ${help}: ${target.join(" ")} ${html.slice(0, 160)} ${failureSummary.split("\n").slice(1).join(" ").trim()}`),
  );
}

/** The rules that depend on sizes: names and roles are the same on a telephone. */
const OF_SIZES = [...OF_COLOURS, "target-size", "scrollable-region-focusable", "heading-order", "region", "page-has-heading-one", "landmark-one-main", "empty-heading", "bypass"];

/** Returns what violates a rule on a screen, in light and in dark colours, and on a telephone. */
export async function violationsEverywhere(page) {
  const found = [];
  for (const [colorScheme, width, height] of [["light", 1280, 800], ["dark", 1280, 800], ["light", 390, 844]]) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    await settled(page);
    const wanted = width < 1000 ? { type: "rule", values: OF_SIZES } : colorScheme === "light" ? { type: "tag", values: TAGS } : { type: "rule", values: OF_COLOURS };
    found.push(...(await violations(page, wanted)).map((line) => `${width} ${colorScheme}: ${line}`));
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 800 });
  return found;
}
