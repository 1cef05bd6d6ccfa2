// The drawing of lanes of visits. What is narrower than a pixel is added up: a column of a pixel is
// as high as the part of its time, in the colour that most of it has.

import { Columns, packed } from "./timeline-columns.js";
import { font } from "./canvas.js";
import { activityOf, activityPattern } from "./colors.js";
import { eachIn } from "./timeline-lanes.js";
import { fitted, shown } from "./names.js";
import { hatched } from "./grid.js";
import { token } from "./theme.js";

const NAME_WIDTH = 30;
/** The width up to which a visit has neither pattern nor name, and is a part of the overlay. */
const PLAIN_WIDTH = 6;
const WAITING_HEIGHT = 3;
/** The fewest letters of a shortened name: fewer say nothing. */
const LETTERS_MIN = 5;
const SHADES = [0, 0.22, 0.42];

/** The colours of a drawing, looked up once. */
export class Palette {
  constructor(context, profile) {
    this.context = context;
    this.profile = profile;
    this.paper = token("--card");
    this.colors = [];
    this.patterns = new Map();
    this.hatch = hatched(context);
    this.frameInk = token("--frame-ink");
    this.warn = token("--warn");
    this.packedWarn = packed(this.warn);
    this.track = token("--track");
    this.fill = packed(token("--fill"));
    this.comm = packed(token("--comm"));
  }

  /** Returns the kind of activity and the colour of a callpath of the events. Neighbours differ in shade. */
  of(number) {
    return (this.colors[number] ??= this.#made(number));
  }

  #made(number) {
    const { row, is_call } = this.profile.timeline.callpaths[number];
    const callpath = row === null ? null : this.profile.callpaths[row];
    const isTold = callpath?.activity !== undefined && callpath?.activity !== null;
    const activity = activityOf({ activity: isTold ? callpath.activity : is_call ? "COMM" : "COMP" });
    const shade = is_call ? 0 : SHADES[number % SHADES.length];
    const color = d3.interpolateRgb(activity.color, this.paper)(shade);
    return { key: activity.key, color, packed: packed(color) };
  }

  pattern(key) {
    if (!this.patterns.has(key)) this.patterns.set(key, activityPattern(this.context, key));
    return this.patterns.get(key);
  }
}

/**
 * Draws a lane at its place: the visits between `from` and `to`, each level in its own row if the lane is open. Narrow
 * ones go to the overlay.
 */
export function drawVisits(context, overlay, palette, lane, { from, to, left, width, y, height, isOpen, row }) {
  const scale = width / (to - from);
  const xOf = (ns) => left + (Math.max(from, Math.min(to, ns)) - from) * scale;
  const place = (level) => (isOpen ? { y: y + level * row, height: row - 1 } : { y, height });
  const columns = new Columns(left, width);
  drawGround(context, palette, lane, xOf, { from, to, y, height });
  // Without arrays: this runs for each of some hundred thousand visits.
  eachIn(lane, from, to, (at) => {
    const x0 = xOf(lane.begins[at]);
    const wide = xOf(lane.ends[at]) - x0;
    const level = lane.levels[at];
    if (wide < 1) columns.add(level, x0, wide, palette.of(lane.callpaths[at]).packed);
    else if (wide <= PLAIN_WIDTH) fillPlain(overlay, palette, lane, at, x0, wide, place(level));
    else drawVisit(context, palette, lane, at, x0, wide, place(level));
  });
  columns.drawOn(overlay, place);
}

/** Where visits may be missing the ground is hatched. */
function drawGround(context, palette, lane, xOf, { from, to, y, height }) {
  context.fillStyle = palette.track;
  context.fillRect(xOf(from), y, xOf(to) - xOf(from), height);
  const [first, last] = lane.complete_ns ?? [Infinity, Infinity];
  context.fillStyle = palette.hatch;
  if (first > from) context.fillRect(xOf(from), y, xOf(first) - xOf(from), height);
  if (last < to) context.fillRect(xOf(last), y, xOf(to) - xOf(last), height);
}

function fillPlain(overlay, palette, lane, at, x, wide, { y, height }) {
  const number = lane.callpaths[at];
  const own = wide - gapOf(wide);
  overlay.fill(x, y, own, height, palette.of(number).packed);
  const wait = wide > 2 && lane.waits.get(number);
  if (wait && own * wait.share >= 0.5) overlay.fill(x, y + height - WAITING_HEIGHT, own * wait.share, WAITING_HEIGHT, palette.packedWarn);
}

function gapOf(wide) {
  return wide > 3 ? 1 : 0;
}

function drawVisit(context, palette, lane, at, x, wide, { y, height }) {
  const number = lane.callpaths[at];
  const { key, color } = palette.of(number);
  const own = wide - gapOf(wide);
  context.fillStyle = color;
  context.fillRect(x, y, own, height);
  const pattern = palette.pattern(key);
  if (pattern) {
    context.fillStyle = pattern;
    context.fillRect(x, y, own, height);
  }
  const wait = lane.waits.get(number);
  if (wait) {
    context.fillStyle = palette.warn;
    context.fillRect(x, y + height - WAITING_HEIGHT, own * wait.share, WAITING_HEIGHT);
  }
  if (wide < NAME_WIDTH || height < 11) return;
  context.fillStyle = palette.frameInk;
  context.textAlign = "left";
  context.textBaseline = "middle";
  const { name } = palette.profile.timeline.callpaths[number];
  const words = shown(name).replace(/^MPI_/, "");
  // Of a call without room for its place, the function is told.
  const isLong = context.measureText(words).width > wide - 8;
  const text = fitted(context, isLong ? words.split(" at ")[0] : words, wide - 8);
  if (text === words || text.length >= LETTERS_MIN) context.fillText(text, x + 4, y + height / 2);
}

/**
 * Draws what was left out of the page, as the part of the time in calls and elsewhere. Parts that are narrower than a pixel
 * share a column, which is as high as their mean.
 */
export function drawLeftOut(overlay, palette, lane, origin, { from, to, left, width, y, height }) {
  if (!lane.parts) return;
  const { width_ns: wide, times, in_calls: inCalls } = lane.parts;
  const scale = width / (to - from);
  const together = Math.max(1, Math.floor(1 / (wide * scale)));
  const begin = Math.max(0, Math.floor((from - origin) / wide));
  const end = Math.min(times.length, Math.ceil((to - origin) / wide));
  for (let part = begin; part < end; part += together) {
    const until = Math.min(end, part + together);
    let [ns, inCallsNs] = [0, 0];
    for (let at = part; at < until; at += 1) {
      ns += times[at];
      inCallsNs += Math.min(inCalls[at], times[at]);
    }
    if (ns === 0) continue;
    const x = left + (Math.max(from, origin + part * wide) - from) * scale;
    const across = left + (Math.min(to, origin + until * wide) - from) * scale - x;
    const high = Math.min(1, ns / ((until - part) * wide)) * height;
    const ofCalls = Math.min(1, inCallsNs / ((until - part) * wide)) * height;
    overlay.fill(x, y + height - high, across, high, palette.fill);
    overlay.fill(x, y + height - ofCalls, across, ofCalls, palette.comm);
  }
}

/** Draws the name of a lane. */
export function drawName(context, words, isSelected, { left, y, height }) {
  context.font = font();
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillStyle = isSelected ? token("--accent") : token("--ink");
  const marked = `${isSelected ? "▸ " : ""}${words}`;
  // The number of the rank is what matters.
  const text = context.measureText(marked).width <= left - 14 ? marked : marked.replace("rank ", "");
  context.fillText(fitted(context, text, left - 14), left - 8, y + height / 2 + 1);
}

/** Frames a visit. */
export function drawFrame(context, color, x, y, wide, high) {
  for (const [own, line] of [[token("--paper"), 4], [color, 2]]) {
    context.strokeStyle = own;
    context.lineWidth = line;
    context.strokeRect(x - 1, y - 1, Math.max(3, wide) + 1, high + 1);
  }
}

/** Draws which part of the run is shown. */
export function drawOverview(context, { from, to, first, last, left, width, y }) {
  context.fillStyle = token("--track");
  context.fillRect(left, y, width, 6);
  const [x0, x1] = [from, to].map((ns) => left + ((ns - first) / (last - first)) * width);
  context.fillStyle = token("--accent");
  context.fillRect(x0, y, Math.max(2, x1 - x0), 6);
}
