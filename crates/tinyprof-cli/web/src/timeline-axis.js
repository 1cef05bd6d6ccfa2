// The axis of a time line: round times, and times with as many digits as one can see.

import { font } from "./canvas.js";
import { time } from "./numbers.js";
import { token } from "./theme.js";

const TICK_PIXELS = 110;

/** Returns a round time at least this long: 1, 2 or 5 times a power of ten. */
export function roundTime(ns) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, ns)));
  return [1, 2, 5, 10].map((digit) => digit * power).find((round) => round >= ns);
}

/** Returns a moment of the run with the digits down to `step`, in seconds: `12.345 678 s`. */
export function moment(ns, step) {
  const digits = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(Math.max(1, step)))));
  const [whole, part] = (ns / 1e9).toFixed(digits).split(".");
  return part ? `${whole}.${part.replace(/(\d{3})(?=\d)/g, "$1\u202f")} s` : `${whole} s`;
}

/** Draws the axis above lanes: `place` is the part of the run, and where it is. */
export function drawAxis(context, { from, to, left, width, top, height }) {
  const step = roundTime(((to - from) * TICK_PIXELS) / width);
  const first = Math.ceil(from / step) * step;
  // Close up, ticks are told as distances from the first, which is told in full.
  const isClose = step < from / 1000;
  context.font = font();
  context.textBaseline = "middle";
  context.textAlign = "left";
  let free = -Infinity;
  for (let at = first; at <= to; at += step) {
    const x = left + ((at - from) / (to - from)) * width;
    context.fillStyle = token("--rule");
    context.fillRect(Math.round(x), top - 6, 1, height + 6);
    const words = isClose && at > first ? `+${time(Math.round(at - first))}` : moment(at, step);
    if (x < free || x + context.measureText(words).width > left + width - 6) continue;
    context.fillStyle = token("--muted");
    context.fillText(words, x + 4, top - 12);
    free = x + context.measureText(words).width + 14;
  }
}
