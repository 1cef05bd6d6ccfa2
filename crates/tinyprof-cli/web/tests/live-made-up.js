// The page of a running job with numbers that are the same each time: those of a made-up profile, as `tinyprof live` tells
// them, after a minute whose course is made up here.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PAGES } from "./browser.js";

/** Opens the page of a running job of which `profile` is the only interim profile. Returns it, and a function that ends it. */
export async function openLive(browser, profile, options) {
  const place = join(PAGES, `live-${profile}`);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place);
  symlinkSync(join(PAGES, `${profile}.tprof`), join(place, "solver-interim-0001.tprof"));
  const server = spawn(join(process.env.TINYPROF_PROGRAMS, "tinyprof"), ["live", place], { stdio: ["ignore", "pipe", "ignore"] });
  const { value: address } = await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next();
  const body = madeUp(await firstPicture(address));
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "light", ...options });
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  // The made-up stream ends, which is no news here.
  await page.addInitScript(() => Object.defineProperty(EventSource.prototype, "onerror", { set() {} }));
  await page.route("**/events", (route) => route.fulfill({ contentType: "text/event-stream", body }));
  await page.goto(address);
  await page.waitForSelector("html[data-ready]");
  return { page, end: async () => { await context.close(); server.kill(); } };
}

/** The programs that this needs are there. */
export function canOpenLive(profile) {
  return Boolean(process.env.TINYPROF_PROGRAMS) && existsSync(join(PAGES, `${profile}.tprof`));
}

async function firstPicture(address) {
  const stop = new AbortController();
  const { body } = await fetch(new URL("events", address), { signal: stop.signal });
  let text = "";
  for await (const bytes of body.pipeThrough(new TextDecoderStream())) {
    text += bytes;
    const found = /event: picture\r?\n(?:id:.*\n)?data: (.*)\n/.exec(text);
    if (!found) continue;
    stop.abort();
    return JSON.parse(found[1]);
  }
  throw new Error(`tinyprof live ended without a picture: ${text.slice(0, 200)}`);
}

function madeUp(picture) {
  const points = Array.from({ length: 60 }, (_, at) => {
    const communication = 0.2 + 0.1 * Math.sin(at / 6) + (at > 40 ? 0.15 : 0);
    return { elapsed_ns: (at + 1) * 1e9, activity: { computation: 0.97 - communication, communication, io: 0.03 }, efficiency: 0.78 - at / 900 };
  });
  const marks = [{ what: "profile", elapsed_ns: 30e9 }];
  const last = points.at(-1);
  const shown = { ...picture, name: "solver.tprof", has_ended: false, elapsed_ns: last.elapsed_ns, activity: last.activity, still: { count: 0, worst: [] }, marks, point: last };
  const event = (name, data) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
  // Nobody asks again when this has ended.
  return `retry: 1000000000\n${event("points", points.slice(0, -1))}${event("picture", shown)}`;
}
