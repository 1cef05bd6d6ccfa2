// The headline of a comparison: how the whole changed, and where most of it is.

import { element } from "./elements.js";
import { shown } from "./names.js";
import { count, deviation, time } from "./numbers.js";

/** The part of a difference that a callpath has to have for most of it to be there. */
const MOST = 0.6;
const WORDS = { up: "Slower", down: "Faster", unclear: "No clear change", unjudged: "Cannot be told from chance", equal: "Equal" };

/** Returns the headline. The whole is the root region with the most time. */
export function headlineOf({ callpaths }) {
  const roots = callpaths.filter(({ depth }) => depth === 0);
  const root = roots.reduce((most, row) => (timeOfRow(row) > timeOfRow(most ?? row) ? row : (most ?? row)), null);
  if (root === null) return element("p", { className: "headline" }, "Neither run visited a region.");
  const { base, new: after, change, verdict } = root;
  const words = WORDS[verdict] ?? "Not the same root regions";
  const text = `${words}: ${time(base.mean)} before, ${time(after.mean)} after (${deviation(change)}) per rank and execution in `;
  const parts = [text, element("bdi", {}, shown(root.name))];
  const place = mostOf(root, callpaths);
  if (place !== root && verdict !== "equal") {
    parts.push(`. Most of the difference is in `, element("bdi", { className: "name" }, shown(place.name)), ` (${place.difference > 0 ? "+" : ""}${time(place.difference)}, ${place.verdict})`);
  }
  return element("p", { className: `headline ${verdict}` }, ...parts, `. ${countsOf(callpaths)}`);
}

/** Returns a sentence such as `3 callpaths are up, 1 is new.` */
function countsOf(callpaths) {
  const counts = ["up", "down", "new", "gone"].map((verdict) => [verdict, callpaths.filter((row) => row.verdict === verdict).length]);
  const told = counts.filter(([, found]) => found > 0).map(([verdict, found]) => `${count(found)} ${verdict}`);
  return told.length > 0 ? `Callpaths: ${told.join(", ")}.` : "No callpath is up, down, new or gone.";
}

function timeOfRow(row) {
  return Math.max(row.base.mean ?? 0, row.new.mean ?? 0);
}

/** Follows the difference from a root region to the innermost callpath that has most of it. */
function mostOf(root, callpaths) {
  const below = new Map();
  for (const row of callpaths.filter(({ path, depth }) => path !== null && depth > 0)) {
    const parent = row.path.slice(0, row.path.length - row.name.length - 1);
    if (!below.has(parent)) below.set(parent, []);
    below.get(parent).push(row);
  }
  let [place, isFound] = [root, true];
  while (isFound) {
    const list = below.get(place.path) ?? [];
    const found = list.find(({ difference }) => difference / root.difference >= MOST);
    isFound = found !== undefined;
    place = found ?? place;
  }
  return place;
}
