// How many threads worked at once, and which of them took longest.

import { callpathButton, element, nothing, numberCell, rankButton, timeCell } from "./elements.js";
import { count, counted, deviation } from "./numbers.js";
import { select } from "./selection.js";
import { shown } from "./names.js";
import { sortable } from "./table.js";

const THREAD_HEADINGS = ["Callpath", "Threads of a rank", "Busy at a time", "Longest thread", "On", "Above mean", "Largest visit"];
/** The most rows: those in which most time is lost come first. */
const THREAD_ROWS_MAX = 20;

/** Returns whether several threads worked anywhere. */
export function hasThreads(profile) {
  return profile.callpaths.some(({ threads }) => threads);
}

/** Returns the callpaths in which several threads worked; `goTo(view)` opens another view. */
export function threadsBlock(profile, goTo) {
  const rows = profile.callpaths.filter(({ threads }) => threads).sort((a, b) => lostToLongest(b) - lostToLongest(a));
  if (rows.length === 0) return nothing("Each rank has one thread.");
  const table = element("table", { className: "threads" });
  const head = element("tr", {}, ...THREAD_HEADINGS.map((textContent) => element("th", { scope: "col", textContent })));
  const body = rows.slice(0, THREAD_ROWS_MAX).map((row) => threadRow(profile, row, goTo));
  table.append(element("thead", {}, head), element("tbody", {}, ...body));
  const more = rows.length - body.length;
  const words = [busyWords(profile), more > 0 ? `${counted(more, "more callpath")}: see the report.` : ""].filter(Boolean).join(" ");
  const box = element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Threads" }, sortable(table));
  return element("div", {}, element("p", { className: "hint-evidence", textContent: words }), box);
}

/** Returns the time for which threads have nothing to do, as one of them takes longer. */
function lostToLongest({ threads: { imbalance, longest_ns: ns } }) {
  return imbalance > 0 ? (ns * imbalance) / (1 + imbalance) : 0;
}

/** Returns how many threads of a rank are busy of those that are there. */
function busyWords({ report: { processors } }) {
  if (!processors || !(processors.wall_ns > 0)) return "";
  const busy = processors.cpu_ns / processors.wall_ns;
  const { threads_at_work: offered } = processors;
  const of = offered >= busy ? ` of ${Number(offered.toFixed(1))}` : "";
  return `${busy.toFixed(1)}${of} threads of a rank are busy at a time.`;
}

function threadRow(profile, { row, name, threads }, goTo) {
  const { count: threadsOfARank, busy, longest_ns, longest_rank, imbalance, largest_visit_ns } = threads;
  const pick = () => {
    select({ callpath: row });
    goTo("tree");
  };
  const place = profile.callpaths[row].parent;
  const under = element("bdi", { className: "path", textContent: place === null ? "" : profile.path(place, 3) });
  const decimal = (number) => numberCell(number === null ? "" : Number.isInteger(number) ? count(number) : number.toFixed(1), number);
  const time = (ns) => (ns === null ? element("td", {}) : timeCell(ns));
  const on = longest_rank === null ? element("td", {}) : element("td", { className: "rank", "data-exact": String(longest_rank) }, rankButton(profile, longest_rank));
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, callpathButton(shown(name), pick), under),
    decimal(threadsOfARank),
    decimal(busy),
    time(longest_ns),
    on,
    imbalance === null ? element("td", {}) : numberCell(deviation(imbalance), imbalance),
    time(largest_visit_ns),
  );
}
