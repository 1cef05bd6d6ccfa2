// Chromium, a page in it, and what a page did that it must not.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

export const PAGES = process.env.TINYPROF_PAGES;

// A container's root may not make sandboxes, and nothing here needs the network.
const ARGUMENTS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

export function launch(options = {}) {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ARGUMENTS, ...options });
}

/** What `tinyprof report --json` says of a profile. */
export function reportOf(name) {
  return JSON.parse(readFileSync(join(PAGES, `${name}.json`), "utf8"));
}

/**
 * Opens the page of a profile and waits until it is drawn. `wrong` fills with whatever must not be: errors, messages of the
 * console, dialogues, windows, and requests for anything but the page itself.
 */
export async function open(browser, name, { beforeOpening, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, colorScheme: "light", ...options });
  // No machine is that slow; what waits longer waits for nothing.
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  const url = pathToFileURL(join(PAGES, `${name}.html`)).href;
  const wrong = [];
  page.on("console", (message) => wrong.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    wrong.push(`dialogue: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("popup", (popup) => wrong.push(`window: ${popup.url()}`));
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== url && !request.url().startsWith("data:")) wrong.push(`request: ${request.url()}`);
  });
  await beforeOpening?.(page);
  await page.goto(url);
  await page.waitForSelector("html[data-ready]").catch((error) => {
    throw new Error([error.message, ...wrong].join("\n"));
  });
  return { page, wrong };
}

export const VIEWS = ["summary", "tree", "ranks", "iterations"];

/** The views that a page has. */
export function viewsOf(page) {
  return page.$$eval("#tabs button", (tabs) => tabs.map((tab) => tab.id.replace("tab-", "")));
}

/** Goes to a view, and waits until it has been drawn. */
export async function goTo(page, view) {
  await page.click(`#tab-${view}`);
  await page.waitForSelector(`#view-${view}:not([hidden])`);
  await settled(page);
}

/** Two frames: what waits for the next one has been drawn then. */
export function settled(page) {
  return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/**
 * Returns what the page tells at each place of the window, null where it tells nothing. The pointer really goes to the first
 * place only, and the page has to tell the same there: for each move of a real pointer Chromium draws a frame.
 */
export async function toldAt(page, places) {
  await page.mouse.move(...places[0]);
  const atFirst = await page.evaluate(() => (document.getElementById("tooltip").hidden ? null : document.getElementById("tooltip").textContent));
  const told = await page.evaluate((all) => {
    const tooltip = document.getElementById("tooltip");
    let before = null;
    return all.map(([clientX, clientY]) => {
      const over = document.elementFromPoint(clientX, clientY);
      const send = (target, ...names) => names.forEach((name) => target.dispatchEvent(new (name.startsWith("p") ? PointerEvent : MouseEvent)(name, { clientX, clientY, bubbles: !name.endsWith("leave") })));
      // Those that the pointer leaves hear of it, as from Chromium.
      for (let left = before; left && !left.contains(over); left = left.parentElement) send(left, "pointerleave", "mouseleave");
      before = over;
      if (over) send(over, "pointermove", "mousemove");
      return tooltip.hidden ? null : tooltip.textContent;
    });
  }, places);
  assert.equal(told[0], atFirst, "a made-up pointer is told something else");
  return told;
}

/** Takes a picture to look at, if somebody wants to: `scripts/browser.sh --pictures`. Each takes as long as a test. */
export async function screenshot(page, name, options = {}) {
  if (process.env.TINYPROF_SCREENSHOTS) await page.screenshot({ path: join(PAGES, "screenshots", `${name}.png`), ...options });
}
