// A profile whose every text is an attempt to run something: all of it is shown, none of it runs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PAGES, VIEWS, goTo, launch, open, reportOf, screenshot } from "./browser.js";
import { shown } from "../src/names.js";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

test("nothing of a hostile profile runs, in any view, under the pointer or from the keyboard", async () => {
  const { page, wrong } = await open(browser, "hostile");
  const elements = await page.evaluate(() => document.querySelectorAll("script, iframe, img, svg, link, meta, base, form, a").length);
  for (const view of VIEWS) {
    await goTo(page, view);
    await screenshot(page, `hostile-${view}`);
    for (const canvas of await page.$$(`#view-${view} canvas[role="img"]`)) {
      const box = await canvas.boundingBox();
      for (let y = 8; y < Math.min(box.height, 420); y += 12) await canvas.hover({ position: { x: box.width * 0.6, y }, force: true });
      await canvas.focus();
      for (const key of ["ArrowDown", "ArrowRight", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    }
    for (const chart of await page.$$(`#view-${view} .chart`)) {
      await chart.focus();
      await page.keyboard.press("ArrowRight");
      assert.equal(await page.isVisible("#tooltip"), true);
    }
  }
  await goTo(page, "tree");
  await page.click(".tree tbody tr");
  await page.fill("#search", "<script>");
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  const now = await page.evaluate(() => document.querySelectorAll("script, iframe, img, svg, link, meta, base, form, a").length);
  assert.equal(now, elements, "an element was made of a name");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("hostile names are shown as what they are", async () => {
  const { page } = await open(browser, "hostile");
  await goTo(page, "tree");
  const names = await page.$$eval(".tree tbody tr[data-row]", (rows) => rows.map((row) => [Number(row.dataset.row), row.querySelector(".name").textContent]));
  const { callpaths } = reportOf("hostile");
  assert.ok(names.length > 20);
  for (const [row, name] of names) assert.equal(name, shown(callpaths[row].name));
  assert.ok(names.some(([, name]) => name.startsWith("\\u{202e}<tpircs>")), "a mark that turns a line around is spelled out");
  await page.context().close();
});

test("the page's policy would stop what got into it", async () => {
  const { page, wrong } = await open(browser, "hostile");
  await page.evaluate(() => {
    for (const html of ["<img src=x onerror='window.pwned=1'>", "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>", "<style>body{display:none}</style>"]) {
      const box = document.createElement("div");
      box.innerHTML = html;
      document.body.append(box);
    }
    const script = document.createElement("script");
    script.textContent = "window.pwned = 1";
    document.body.append(script);
  });
  await page.waitForFunction(() => document.querySelector("iframe").contentDocument?.readyState === "complete");
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).display), "none");
  assert.ok(wrong.some((line) => line.includes("Content Security Policy")), wrong.join("\n"));
  await page.context().close();
});

test("no name of a profile is in the page's text", () => {
  const text = readFileSync(join(PAGES, "hostile.html"), "utf8");
  assert.ok(!text.includes("window.pwned") && !text.includes("localhost:9"));
});
