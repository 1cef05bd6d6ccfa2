// The page of a running job: it follows the job, keeps its place, and gives commands.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { violationsEverywhere } from "./axe.js";
import { launch, PAGES, screenshot } from "./browser.js";

const PROGRAMS = process.env.TINYPROF_PROGRAMS;
const PLACE = join(PAGES, "live");

let browser, program, server, address;

/** Starts a program, and returns it with a function that waits for its next line. */
function started(command, args, options) {
  const process = spawn(command, args, { cwd: PLACE, stdio: ["pipe", "pipe", "ignore"], ...options });
  const lines = createInterface({ input: process.stdout })[Symbol.asyncIterator]();
  return { process, line: async () => (await lines.next()).value };
}

async function step() {
  program.process.stdin.write("\n");
  assert.equal(await program.line(), "done");
}

before(async () => {
  rmSync(PLACE, { recursive: true, force: true });
  mkdirSync(PLACE);
  const variables = { TINYPROF_SEGMENT_DIR: "segments", TINYPROF_OUT: "job", TINYPROF_REPORT: "off", TINYPROF_STEER: "hold" };
  program = started(join(PROGRAMS, "examples/watched"), [], { env: { ...process.env, ...variables } });
  await step();
  server = started(join(PROGRAMS, "tinyprof"), ["live", "segments", "--iterations", "step=900"]);
  address = await server.line();
  browser = await launch();
});

after(async () => {
  await browser?.close();
  server?.process.kill();
  program?.process.stdin.end();
});

/** Opens the page; `wrong` fills with whatever must not be. */
async function opened(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, colorScheme: "light", ...options });
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (message) => wrong.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("request", (request) => !request.url().startsWith(address) && !request.url().startsWith("data:") && wrong.push(`request: ${request.url()}`));
  await page.goto(address);
  await page.waitForSelector("html[data-ready]");
  return { page, wrong };
}

/** Waits until the row of a callpath has this number of visits. */
async function waitForVisits(page, name, visits) {
  const row = page.locator("table.tree tbody tr").filter({ has: page.locator(`bdi:text-is("${name}")`) });
  await row.locator(`td:nth-child(5):text-is("${visits}")`).waitFor();
}

test("the numbers change, and what is selected and folded stays", async () => {
  const { page, wrong } = await opened();
  await waitForVisits(page, "step", 1);
  assert.equal(await page.textContent("#title"), "job.tprof");
  assert.match(await page.textContent("#subtitle"), /^1 rank on 1 host, runs for .*, iteration 1 of 900, about .* left$/);
  await page.click("table.tree button:has-text(\"step\")");
  await page.focus("table.tree tbody tr:nth-child(2) button.sign");
  await step();
  await step();
  await waitForVisits(page, "step", 3);
  assert.equal(await page.textContent("tr[aria-selected=true] bdi"), "step");
  assert.ok(await page.evaluate(() => document.activeElement.classList.contains("sign")), "the focus stays");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("table.tree tbody tr").count(), 2, "what is below it is folded");
  await step();
  await waitForVisits(page, "step", 4);
  assert.equal(await page.locator("table.tree tbody tr").count(), 2);
  // The name of the region has a control character, which is spelled out.
  await page.keyboard.press("Enter");
  assert.match(await page.textContent("table.tree tbody tr:nth-child(3) bdi"), /^a \\u\{1b\}\[31mname$/);
  assert.deepEqual(wrong, []);
});

test("commands are given, and what they write opens in place", async () => {
  const { page, wrong } = await opened();
  await page.click("button:text-is(\"Save\")");
  const link = page.locator(".marks a").first();
  await link.waitFor();
  assert.match(await page.textContent(".card .marks"), /save: 1 host: saved as .*job-saved.*\.tprof open it/);
  const [kept] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
  await kept.waitForSelector("html[data-ready]");
  assert.match(await kept.textContent("#title"), /job-saved/);
  await page.fill("input[aria-label=Condition]", "efficency < 1.0");
  await page.click("text=Wait for it");
  await page.waitForSelector("text=a condition knows no efficency");
  await page.fill("input[aria-label=Condition]", "ranks == 1.0");
  await page.click("text=Wait for it");
  await page.waitForSelector("text=ranks == 1.0: holds");
  await screenshot(page, "live");
  assert.deepEqual(await violationsEverywhere(page), []);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 390, height: 844 });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than a telephone");
  await screenshot(page, "live-narrow");
  assert.deepEqual(wrong, []);
});

test("Tab comes to every control of a running job, Enter uses it, and numbers that change take no focus", async () => {
  const { page, wrong } = await opened();
  const stops = [];
  for (let at = 0; at < 200; at += 1) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => {
      const one = document.activeElement;
      if (one === document.body) return null;
      const { top, bottom } = one.getBoundingClientRect();
      const isSeen = bottom > 0 && top < innerHeight && getComputedStyle(one).outlineStyle !== "none";
      one.dataset.stop = "true";
      return { name: one.getAttribute("aria-label") ?? one.textContent, isSeen };
    });
    if (stop === null) break;
    assert.ok(stop.isSeen, `${stop.name} has the focus, and does not show it`);
    stops.push(stop.name);
  }
  assert.ok(stops.length > 10 && stops.length < 200, `${stops.length} stops: ${stops}`);
  const all = "main :is(a[href], button:not([disabled]), input, select, [tabindex=\"0\"])";
  const missed = await page.$$eval(all, (found) => found.filter((one) => one.getClientRects().length > 0 && !one.dataset.stop).map((one) => one.outerHTML.slice(0, 120)));
  assert.deepEqual(missed, []);
  await page.focus("main button:text-is(\"Release\")");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".card [role=status]:has-text(\"release\")");
  await step();
  await page.waitForFunction(() => document.activeElement.textContent === "Release");
  assert.deepEqual(wrong, []);
});

test("the end of the job and of the server are told", async () => {
  const { page } = await opened();
  program.process.stdin.end();
  await page.waitForSelector("#state:has-text(\"The job has ended\")");
  assert.match(await page.textContent("#subtitle"), /, ran [^,]*, iteration \d+ of 900$/);
  server.process.kill();
  await page.waitForSelector("#state:has-text(\"tinyprof live does not answer\")");
  assert.deepEqual(await violationsEverywhere(page), []);
});
