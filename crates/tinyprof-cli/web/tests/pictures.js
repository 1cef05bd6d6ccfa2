// What a view looks like, in some hundred characters: the lightness of a grid of cells, and the colour of a coarser one.
// tests/pictures has those of all views, which were looked at; a view that looks otherwise is found by them.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { PAGES, goTo, settled } from "./browser.js";
import { decoded } from "./png.js";

export const SIZES = { laptop: [1280, 800], large: [3840, 2160], telephone: [390, 844] };
export const SCHEMES = ["light", "dark"];
/** Two grids, in columns and rows, by the size of the screen. Colours of the dark are those of the same layout: fewer cells do. */
const GRIDS = { laptop: [[24, 15], [8, 5]], large: [[24, 15], [8, 5]], telephone: [[10, 22], [4, 9]] };
const DARK = { laptop: [[12, 8], [8, 5]], large: [[12, 8], [8, 5]], telephone: [[6, 12], [4, 9]] };
/** Pages of made-up runs, which are the same each time: of 1, 4, 64 and 4,096 ranks, without and with messages, events and samples. */
export const KEPT = ["one", "other", "many", "wide", "all-1", "all-4", "all-64", "all-4096", "several", "metrics", "empty", "live-all-1", "live-all-4", "live-all-64", "live-all-4096"];
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
const FOLDER = join(dirname(fileURLToPath(import.meta.url)), "pictures");

/** Returns the variables with which Chromium has one family of fonts, the same on every machine. */
export function withOneFont() {
  const folder = join(dirname(createRequire(import.meta.url).resolve("dejavu-fonts-ttf/package.json")), "ttf");
  const without = ["Serif", "Mono", "Math", "Condensed", "Oblique", "ExtraLight"].map((style) => `<glob>*${style}*</glob>`);
  const set = (name, value) => `<match target="font"><edit name="${name}" mode="assign">${value}</edit></match>`;
  const path = join(PAGES, "fonts.conf");
  writeFileSync(
    path,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${folder}</dir><cachedir>${join(PAGES, "fonts")}</cachedir>
<selectfont><rejectfont>${without.join("")}</rejectfont></selectfont>
${set("hinting", "<bool>false</bool>")}${set("antialias", "<bool>true</bool>")}${set("rgba", "<const>none</const>")}</fontconfig>`,
  );
  return { ...process.env, FONTCONFIG_FILE: path };
}

/** Options of `open` with which a page looks the same anywhere. */
export const ANYWHERE = { timezoneId: "UTC", locale: "en-GB", reducedMotion: "reduce" };

/** Takes pictures of a view at some sizes, in some colours, and hands each to `take`. */
export async function takeView(page, view, { sizes = Object.keys(SIZES), schemes = SCHEMES }, take) {
  await page.setViewportSize({ width: SIZES.laptop[0], height: SIZES.laptop[1] });
  if (view !== "live") await goTo(page, view);
  for (const size of sizes) {
    await page.setViewportSize({ width: SIZES[size][0], height: SIZES[size][1] });
    for (const scheme of schemes) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.mouse.move(0, 0);
      await page.evaluate(() => scrollTo(0, 0));
      await settled(page);
      await settled(page);
      await take({ view, size, scheme, picture: await page.screenshot({ caret: "hide" }) });
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
}

/** Returns what a picture looks like, as characters. */
export function describe({ size, scheme, picture }) {
  const image = decoded(picture);
  const [lightness, colours] = (scheme === "light" ? GRIDS : DARK)[size].map((grid) => means(image, grid));
  const digit = (value) => DIGITS[Math.max(0, Math.min(63, Math.round(value / 4)))];
  const ofColour = ([red, green, blue]) => digit(128 + (red - green) / 2) + digit(128 + (blue - green) / 2);
  return `${lightness.map(([red, green, blue]) => digit(0.3 * red + 0.6 * green + 0.1 * blue)).join("")} ${colours.map(ofColour).join("")}`;
}

/** Returns the mean red, green and blue of each cell of a grid. */
function means({ width, height, channels, pixels }, [columns, rows]) {
  const sums = new Float64Array(4 * columns * rows);
  const columnOf = Uint16Array.from({ length: width }, (_, x) => 4 * Math.floor((x * columns) / width));
  for (let y = 0; y < height; y += 1) {
    const row = 4 * columns * Math.floor((y * rows) / height);
    for (let x = 0; x < width; x += 1) {
      const cell = row + columnOf[x];
      const at = channels * (y * width + x);
      sums[cell] += pixels[at];
      sums[cell + 1] += pixels[at + 1];
      sums[cell + 2] += pixels[at + 2];
      sums[cell + 3] += 1;
    }
  }
  return Array.from({ length: columns * rows }, (_, cell) => [0, 1, 2].map((channel) => sums[4 * cell + channel] / sums[4 * cell + 3]));
}

/**
 * Returns how a picture differs from the one that was kept; empty if it does not. Letters and edges are drawn a bit
 * differently by another Chromium: a step of 4 of 255 is nothing, and a few cells may be one step further.
 */
export function difference(found, kept, size) {
  if (kept === undefined) return "was never kept";
  const names = ["lightness", "colour"];
  const parts = found.split(" ").map((text, part) => {
    const before = kept.split(" ")[part] ?? "";
    if (text.length !== before.length) return `${names[part]} has another number of cells`;
    const steps = [...text].map((letter, at) => Math.abs(DIGITS.indexOf(letter) - DIGITS.indexOf(before[at])));
    const off = steps.flatMap((step, at) => (step > 1 ? [at] : []));
    if (Math.max(...steps) <= 3 && off.length * 100 <= text.length) return "";
    const worst = steps.indexOf(Math.max(...steps));
    const columns = GRIDS[size][part][0];
    const place = text.length === GRIDS[size][part][0] * GRIDS[size][part][1] ? `, most in column ${(worst % columns) + 1}, row ${Math.floor(worst / columns) + 1}` : "";
    return `${names[part]} of ${off.length} of ${text.length} cells differs${place}, by ${4 * steps[worst]} of 255`;
  });
  return parts.filter(Boolean).join("; ");
}

/** The descriptions of a page's pictures that were kept, by view, size and colours. */
export function kept(name) {
  const path = join(FOLDER, `${name}.txt`);
  const lines = existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
  return new Map(lines.map((line) => [line.split(" ").slice(0, 3).join(" "), line.split(" ").slice(3).join(" ")]));
}

export function keep(name, descriptions) {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, `${name}.txt`), [...descriptions].map(([key, text]) => `${key} ${text}\n`).join(""));
}
