// Takes every view of every page at the sizes of a laptop, a large screen and a telephone, in light and dark, and reports
// faults of their layout: TINYPROF_PAGES=target/browser node tests/matrix.js [PAGE ...]. A sheet for each view of each page
// has all six. scripts/browser.sh --pictures runs it; it takes minutes.

import { existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { PAGES, goTo, launch, open, settled, viewsOf } from "./browser.js";
import { faults } from "./layout.js";

export const SIZES = [["laptop", 1280, 800], ["large", 3840, 2160], ["telephone", 390, 844]];
const FOLDER = join(PAGES, "screenshots", "matrix");
/** Pages of 1, 4, 64 and 4,096 ranks, without and with messages, events, samples; none that is not there. */
const NAMES = ["one", "other", "wide", "fft", "metrics", "messages", "many-messages", "many-events", "events", "sampled", "several", "empty"];

/** Draws the pictures of a view beside each other. */
async function sheet(browser, files, path) {
  const page = await browser.newPage({ viewport: { width: 2400, height: 1000 } });
  const images = files.map((file) => `<img style="height:${file.includes("telephone") ? 844 : 480}px" src="data:image/png;base64,${readFileSync(file, "base64")}">`);
  await page.setContent(`<body style="margin:0;display:flex;flex-wrap:wrap;gap:8px;background:#888">${images.join("")}</body>`);
  await page.screenshot({ path, fullPage: true });
  await page.close();
}

async function main() {
  mkdirSync(FOLDER, { recursive: true });
  const wanted = process.argv.slice(2);
  const names = (wanted.length > 0 ? wanted : NAMES).filter((name) => existsSync(join(PAGES, `${name}.html`)));
  const browser = await launch();
  let wrong = 0;
  for (const name of names) {
    const { page } = await open(browser, name);
    for (const view of await viewsOf(page)) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await goTo(page, view);
      const files = [];
      for (const [size, width, height] of SIZES) {
        await page.setViewportSize({ width, height });
        for (const colorScheme of ["light", "dark"]) {
          await page.emulateMedia({ colorScheme });
          await settled(page);
          await settled(page);
          files.push(join(FOLDER, `${name}-${view}-${size}-${colorScheme}.png`));
          await page.screenshot({ path: files.at(-1) });
        }
        for (const fault of await faults(page)) {
          wrong += 1;
          console.log(`${name}, ${view}, ${size}: ${fault}`);
        }
      }
      await sheet(browser, files, join(FOLDER, `sheet-${name}-${view}.png`));
    }
    await page.context().close();
  }
  await browser.close();
  console.log(`${readdirSync(FOLDER).length} pictures in ${FOLDER}, ${wrong} faults`);
}

await main();
