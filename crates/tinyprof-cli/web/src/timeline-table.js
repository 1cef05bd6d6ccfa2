// The callpaths of the part of a time line that is shown, as a table.

import { callpathButton, element, numberCell, shareCell, timeCell } from "./elements.js";
import { count, counted, percent, time } from "./numbers.js";
import { leftOutIn, length, sumsIn } from "./timeline-lanes.js";
import { rangeWords } from "./timeline-words.js";
import { select } from "./selection.js";
import { shown } from "./names.js";

const SUMS_SHOWN = 12;

/** Returns the table; `showVisit(lane, at)` shows a visit. */
export function inViewTable(profile, lanes, range, showVisit) {
  const { from, to } = range;
  const sums = sumsIn(lanes, from, to);
  const all = sums.reduce((sum, { ns }) => sum + ns, 0);
  const titles = ["Callpath", "Visits", "Time, without visits inside", "Share", "Longest visit"];
  const head = element("thead", {}, element("tr", {}, ...titles.map((textContent) => element("th", { scope: "col", textContent }))));
  const rows = sums.slice(0, SUMS_SHOWN).map((sum) => inViewRow(profile, sum, all, showVisit));
  const left = sums.length - rows.length;
  const shorter = lanes.reduce((sum, lane) => sum + (leftOutIn(lane, profile.timeline.from_ns, from, to)?.visits ?? 0), 0);
  const words = [`Sums over the lanes, from ${rangeWords(range)}`];
  if (left > 0) words.push(counted(left, "more callpath"));
  if (shorter > 0) words.push(`about ${counted(shorter, "shorter visit")} ${shorter === 1 ? "counts" : "count"} with what is around ${shorter === 1 ? "it" : "them"}`);
  return element("table", { className: "in-view" }, element("caption", { textContent: words.join("; ") }), head, element("tbody", {}, ...rows));
}

function inViewRow(profile, { callpath, visits, ns, lane, longest }, all, showVisit) {
  const { name, row } = profile.timeline.callpaths[callpath];
  const words = row === null ? shown(name) : profile.path(row);
  const link = row === null ? element("bdi", { textContent: words }) : callpathButton(words, () => select({ callpath: row }));
  const go = callpathButton(`${time(length(lane, longest))}, rank ${lane.rank}`, () => showVisit(lane, longest));
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, link),
    numberCell(count(visits), visits),
    timeCell(Math.round(ns)),
    shareCell(ns, all, percent(all > 0 ? ns / all : 0)),
    element("td", {}, go),
  );
}
