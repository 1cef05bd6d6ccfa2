// Takes the pictures of the README: TINYPROF_PAGES=target/browser node tests/readme-pictures.js PAGE TERMINAL FOLDER, where
// TERMINAL has what `tinyprof why` prints in colours. scripts/readme-pictures.sh runs the program and calls it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { goTo, launch, open, settled } from "./browser.js";

const [name, terminal, folder] = process.argv.slice(2);
/** Escape codes of the command's colours, as styles. */
const STYLES = { 1: "font-weight:bold", 2: "opacity:0.7", 31: "color:#ff7b72", 32: "color:#7ee787", 33: "color:#e3b341", 36: "color:#79c0ff" };

/** Returns a text with escape codes as HTML. */
function painted(text) {
  const escaped = text.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`);
  let opened = 0;
  return escaped.replace(/\x1b\[([\d;]*)m/g, (_, codes) => {
    const styles = codes.split(";").map((code) => STYLES[code]).filter(Boolean);
    const end = "</span>".repeat(opened);
    opened = styles.length > 0 ? 1 : 0;
    return styles.length > 0 ? `${end}<span style="${styles.join(";")}">` : end;
  });
}

/** Takes a picture of a command and of what it prints. */
async function terminalPicture(browser, command, path) {
  const page = await browser.newPage({ viewport: { width: 960, height: 200 }, deviceScaleFactor: 2 });
  const style = "margin:0;padding:18px 22px;background:#0d1117;color:#e6edf3;font:14px/1.45 'DejaVu Sans Mono',monospace;display:inline-block";
  await page.setContent(`<body style="margin:0;background:#0d1117"><pre style="${style}"><span style="opacity:0.7">$</span> ${command}\n${painted(readFileSync(terminal, "utf8").trimEnd())}</pre>`);
  await page.locator("pre").screenshot({ path });
  await page.close();
}

const browser = await launch();
const { page, wrong } = await open(browser, name, { viewport: { width: 1280, height: 800 } });
for (const view of ["summary", "timeline"]) {
  await goTo(page, view);
  await page.evaluate(() => scrollTo(0, 0));
  await settled(page);
  await page.screenshot({ path: join(folder, `${view}.png`) });
}
await terminalPicture(browser, `tinyprof why ${name}.tprof`, join(folder, "why.png"));
await browser.close();
for (const line of wrong) console.log(line);
process.exitCode = wrong.length > 0 ? 1 : 0;
