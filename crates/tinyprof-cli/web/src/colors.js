// Colours that everybody can distinguish: cividis for amounts; for deviations from violet (faster)
// to brown (slower), away from the background's lightness, so that both sides also differ without
// hues and slower stands out. The activity of a region is also shown by a pattern.

import { isDark, token } from "./theme.js";

const STEPS = 256;

/** Returns packed colours, ready for the pixels of an image. */
function palette(interpolate) {
  const colors = new Uint32Array(STEPS);
  for (let i = 0; i < STEPS; i += 1) {
    const { r, g, b } = d3.rgb(interpolate(i / (STEPS - 1)));
    colors[i] = 0xff000000 | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r);
  }
  return colors;
}

const amountPalette = palette(d3.interpolateCividis);
const deviationPalettes = {
  light: palette(d3.interpolateRgbBasis(["#f3e8ff", "#d5c4ec", "#b9b2b4", "#b06a2c", "#431c05"])),
  dark: palette(d3.interpolateRgbBasis(["#2a1a45", "#43356a", "#5d5860", "#c9823f", "#ffe2b8"])),
};

/** Returns the packed colour of an amount between 0 and 1. */
export function amountColor(t) {
  return amountPalette[Math.max(0, Math.min(STEPS - 1, Math.round(t * (STEPS - 1))))];
}

/** The range of colours of amounts on a logarithmic scale: from the greatest to a ten-thousandth. */
export const DECADES = 4;

/** Returns the packed colour of an amount on a logarithmic scale. */
export function logColor(value, greatest) {
  return amountColor(value <= 0 ? 0 : 1 + Math.log10(value / greatest) / DECADES);
}

/** Returns the packed colour of a deviation between -1 and 1. */
export function deviationColor(t) {
  return deviationPalettes[isDark() ? "dark" : "light"][Math.max(0, Math.min(STEPS - 1, Math.round((t + 1) * 0.5 * (STEPS - 1))))];
}

/** Returns the packed colour of a time above or below the mean: its root, so that a hundredth of the greatest can be seen. */
export function lossColor(value, greatest) {
  return deviationColor(Math.sign(value) * Math.sqrt(Math.abs(value) / greatest));
}

/** Converts a packed colour for the style of a canvas. */
export function cssColor(packed) {
  return `rgb(${packed & 255} ${(packed >> 8) & 255} ${(packed >> 16) & 255})`;
}

/** Returns true if black is easier to read on it than white. */
export function isLight(packed) {
  return 0.299 * (packed & 255) + 0.587 * ((packed >> 8) & 255) + 0.114 * ((packed >> 16) & 255) > 140;
}

const ACTIVITIES = {
  COMP: { text: "computation", color: "--comp" },
  COMM: { text: "communication", color: "--comm" },
  IO: { text: "input and output", color: "--io" },
  INIT: { text: "set-up of MPI", color: "--untagged" },
  none: { text: "not tagged", color: "--untagged" },
};

/** Returns the name and colour of a region's activity. */
export function activityOf(callpath) {
  const key = callpath.activity ?? "none";
  return { key, text: ACTIVITIES[key].text, color: token(ACTIVITIES[key].color) };
}

/**
 * Returns the pattern over the colour: stripes for communication, dots for input and output, none
 * for the others.
 */
export function activityPattern(context, key) {
  if (key !== "COMM" && key !== "IO") return null;
  const tile = new OffscreenCanvas(8, 8);
  const drawn = tile.getContext("2d");
  drawn.strokeStyle = drawn.fillStyle = token("--pattern");
  if (key === "COMM") {
    for (const offset of [-8, 0, 8]) {
      drawn.moveTo(offset, 8);
      drawn.lineTo(offset + 8, 0);
    }
    drawn.lineWidth = 1.5;
    drawn.stroke();
  } else {
    drawn.arc(4, 4, 1.3, 0, 2 * Math.PI);
    drawn.fill();
  }
  return context.createPattern(tile, "repeat");
}
