// Takes every view of every page at the sizes of a laptop, a large screen and a telephone, in light and dark, reports
// faults of their layout, and compares the pictures with those that were kept in tests/pictures:
//     TINYPROF_PAGES=target/browser node tests/matrix.js [--keep] [PAGE ...]
// With --keep they become those that are kept: look at them first. A sheet for each view of each page has all six.
// scripts/browser.sh --matrix makes the pages and runs it; it takes minutes.

import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PAGES, launch, open, viewsOf } from "./browser.js";
import { faults } from "./layout.js";
import { canOpenLive, openLive } from "./live-made-up.js";
import { ANYWHERE, KEPT, describe, difference, keep, kept, takeView, withOneFont } from "./pictures.js";

const FOLDER = join(PAGES, "screenshots", "matrix");
/** Pages of real runs, which are only looked at: their numbers are others each time. */
const OF_RUNS = ["fft", "tc"];

/** Draws the pictures of a view beside each other. */
async function sheet(browser, files, path) {
  const page = await browser.newPage({ viewport: { width: 2400, height: 1000 } });
  const images = files.map((file) => `<img style="height:${file.includes("telephone") ? 844 : 480}px" src="data:image/png;base64,${readFileSync(file, "base64")}">`);
  await page.setContent(`<body style="margin:0;display:flex;flex-wrap:wrap;gap:8px;background:#888">${images.join("")}</body>`);
  await page.screenshot({ path, fullPage: true });
  await page.close();
}

/** Opens the page of a profile, or that of a running job for a name such as `live-all-4`. */
async function opened(browser, name) {
  if (name.startsWith("live-")) return { ...(await openLive(browser, name.slice(5), ANYWHERE)), views: ["live"] };
  const { page } = await open(browser, name, ANYWHERE);
  return { page, views: await viewsOf(page), end: () => page.context().close() };
}

async function main() {
  mkdirSync(FOLDER, { recursive: true });
  const [options, wanted] = [process.argv.slice(2).filter((word) => word.startsWith("--")), process.argv.slice(2).filter((word) => !word.startsWith("--"))];
  const names = (wanted.length > 0 ? wanted : [...KEPT, ...OF_RUNS]).filter((name) => (name.startsWith("live-") ? canOpenLive(name.slice(5)) : existsSync(join(PAGES, `${name}.html`))));
  const browser = await launch({ env: withOneFont() });
  let wrong = 0;
  const tell = (text) => {
    wrong += 1;
    console.log(text);
  };
  for (const name of names) {
    const { page, views, end } = await opened(browser, name);
    const [before, now] = [kept(name), new Map()];
    for (const view of views) {
      const files = [];
      await takeView(page, view, {}, async (taken) => {
        const key = `${view} ${taken.size} ${taken.scheme}`;
        files.push(join(FOLDER, `${name}-${key.replaceAll(" ", "-")}.png`));
        writeFileSync(files.at(-1), taken.picture);
        if (taken.scheme === "light") for (const fault of await faults(page)) tell(`${name}, ${key}: ${fault}`);
        now.set(key, describe(taken));
        const differs = KEPT.includes(name) && !options.includes("--keep") && difference(now.get(key), before.get(key), taken.size);
        if (differs) tell(`${name}, ${key}: ${differs}`);
      });
      await sheet(browser, files, join(FOLDER, `sheet-${name}-${view}.png`));
    }
    if (KEPT.includes(name) && options.includes("--keep")) keep(name, now);
    await end();
  }
  await browser.close();
  console.log(`${readdirSync(FOLDER).length} pictures in ${FOLDER}; ${wrong} are wrong`);
  process.exitCode = wrong > 0 ? 1 : 0;
}

await main();
