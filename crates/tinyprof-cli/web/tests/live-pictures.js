// Takes pictures of the page of a running job at all sizes, in light and dark, and reports faults of its layout:
// TINYPROF_PAGES=target/browser node tests/live-pictures.js ADDRESS NAME. scripts/live-pictures.sh starts the jobs.

import { join } from "node:path";
import { PAGES, launch, settled } from "./browser.js";
import { faults } from "./layout.js";
import { violationsEverywhere } from "./axe.js";

const SIZES = [["laptop", 1280, 800], ["large", 3840, 2160], ["telephone", 390, 844]];
/** From here on, the plot has points. */
const POINTS = 12;

const [address, name] = process.argv.slice(2);
const browser = await launch();
const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
context.setDefaultTimeout(120_000);
const page = await context.newPage();
let pictures = 0;
await page.route("**/events", (route) => route.continue());
await page.exposeFunction("pictureCame", () => (pictures += 1));
await page.addInitScript(() => {
  const { addEventListener } = EventSource.prototype;
  EventSource.prototype.addEventListener = function (kind, take) {
    return addEventListener.call(this, kind, (event) => {
      take(event);
      if (kind === "picture") window.pictureCame();
    });
  };
});
await page.goto(address);
await page.waitForSelector("html[data-ready]");
for (let came = -1; pictures < POINTS && came !== pictures; ) {
  came = pictures;
  await page.waitForTimeout(3000);
}
for (const [size, width, height] of SIZES) {
  await page.setViewportSize({ width, height });
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await settled(page);
    await page.screenshot({ path: join(PAGES, "screenshots", `live-${name}-${size}-${colorScheme}.png`), fullPage: size !== "laptop" || colorScheme === "dark" });
  }
  for (const fault of await faults(page)) console.log(`${name}, ${size}: ${fault}`);
}
for (const line of await violationsEverywhere(page)) console.log(`${name}: ${line}`);
await browser.close();
