// Two runs, callpath by callpath: what changed, by how much, and whether chance explains it.

import { Flame } from "./flame.js";
import { element, nameElement, nothing, numberCell, timeCell } from "./elements.js";
import { count, deviation, percent, time } from "./numbers.js";
import { shown } from "./names.js";
import { sortable } from "./table.js";
import { onSelection, select, selection } from "./selection.js";

const ROWS_MAX = 200;
const HEADINGS = ["Callpath", "Before", "After", "Difference", "95 % interval", "Change", "Verdict"];
const SIGNS = { up: "▲ up", down: "▼ down", unclear: "unclear", unjudged: "unjudged", equal: "equal", new: "+ new", gone: "− gone" };

export class CompareView {
  constructor(profiles, comparison) {
    this.comparison = comparison;
    [this.base, this.new] = profiles.map((profile) => ({ profile, rows: pathsOf(profile) }));
    const rows = comparison.callpaths.slice(0, ROWS_MAX);
    const greatest = Math.max(1, ...rows.map(({ difference, interval }) => Math.max(Math.abs(difference), ...(interval ?? []).map(Math.abs))));
    this.body = element("tbody", {}, ...rows.map((row) => this.#row(row, greatest)));
    const table = element("table", { className: "compare" });
    table.append(element("thead", {}, element("tr", {}, ...HEADINGS.map((textContent) => element("th", { scope: "col", textContent })))), this.body);
    if (rows.length > 0) sortable(table);
    this.flames = [this.base, this.new].map((side) => new Flame(side.profile, (row) => this.#pick(side, row)));
    const names = [comparison.base[0].profile, comparison.new[0].profile];
    const sides = this.flames.map((flame, at) =>
      element("figure", { className: "side" }, element("figcaption", {}, at === 0 ? "Before: " : "After: ", element("bdi", {}, shown(names[at]))), flame.box),
    );
    const more = comparison.callpaths.length - rows.length;
    this.panel = element(
      "div",
      {},
      element("p", { className: "note" }, noteText(comparison, more)),
      element("div", { className: "sides" }, ...sides),
      rows.length > 0 ? element("div", { className: "scroll tall", tabIndex: 0, role: "region", "aria-label": "Callpaths of both runs" }, table) : nothing("Neither run visited a region."),
    );
    onSelection(() => this.panel.isConnected && this.draw());
  }

  draw() {
    const { callpath } = selection();
    const path = callpath === null ? null : pathOf(this.new.profile, callpath);
    this.flames[1].show({ selected: callpath });
    this.flames[0].show({ selected: path === null ? null : (this.base.rows.get(path) ?? null) });
    for (const row of this.body.children) row.setAttribute("aria-selected", String(path !== null && row.path === path));
  }

  /**
   * Selects a callpath by its path. The views show the new run, so callpaths that only the base run
   * has cannot be selected.
   */
  #pick(side, row) {
    const path = row === null ? null : pathOf(side.profile, row);
    select({ callpath: path === null ? null : (this.new.rows.get(path) ?? null) });
  }

  #row(row, greatest) {
    const { path, name, depth, verdict, base, new: after, difference, interval, change } = row;
    const place = path === null ? undefined : this.new.rows.get(path);
    const label = place === undefined ? nameElement(shown(name)) : element("button", { type: "button", className: "link", onclick: () => select({ callpath: place }) }, nameElement(shown(name)));
    const above = place === undefined ? null : this.new.profile.callpaths[place].parent;
    const made = element(
      "tr",
      {},
      element("th", { scope: "row" }, label, element("bdi", { className: "path", textContent: above === null ? (depth > 0 ? "…" : "") : this.new.profile.path(above, 3) })),
      timeCell(base.mean),
      timeCell(after.mean),
      timeCell(difference, difference > 0 ? "+" : ""),
      element("td", {}, intervalBar(difference, interval, greatest), element("span", { className: "interval-words", textContent: intervalWords(interval) })),
      numberCell(deviation(change), change),
      element("td", { className: `verdict ${verdict}`, textContent: SIGNS[verdict] ?? verdict }),
    );
    made.path = path;
    return made;
  }
}

/**
 * Returns a scale with zero in the middle, the interval as a bar, and the difference as a line in
 * it.
 */
function intervalBar(difference, interval, greatest) {
  const place = (ns) => 50 + (ns / greatest) * 50;
  const track = element("span", { className: "interval", "aria-hidden": "true" });
  const [low, high] = interval ?? [difference, difference];
  const bar = element("span", { className: "interval-bar" });
  bar.style.left = `${place(low)}%`;
  bar.style.width = `${Math.max(1, place(high) - place(low))}%`;
  const middle = element("span", { className: "interval-middle" });
  middle.style.left = `${place(difference)}%`;
  track.append(bar, middle);
  return track;
}

function intervalWords(interval) {
  return interval === null ? "not known" : `${time(interval[0])} to ${time(interval[1])}`;
}

function noteText({ confidence, false_discovery_rate, callpaths }, more) {
  const samples = [...new Set(callpaths.map(({ sample }) => sample))].join(" or ");
  const parts = [
    `Inclusive time a rank and execution, compared ${samples ? `by ${samples}` : "by nothing"}. Up and down are more than chance (at most ${percent(false_discovery_rate)} of these marks are expected to be wrong); the interval holds the true difference in ${percent(confidence)} of cases.`,
    "All other views show the run after.",
  ];
  if (more > 0) parts.push(`The first ${count(ROWS_MAX)} of ${count(callpaths.length)} callpaths are listed; tinyprof diff lists all.`);
  return parts.join(" ");
}

/** Returns the rows of a profile by their path in the comparison; the first of equal paths. */
function pathsOf(profile) {
  const rows = new Map();
  profile.callpaths.forEach((callpath) => {
    const path = pathOf(profile, callpath.row);
    if (!rows.has(path)) rows.set(path, callpath.row);
  });
  return rows;
}

function pathOf(profile, row) {
  const names = [];
  for (let at = row; at !== null; at = profile.callpaths[at].parent) names.push(profile.callpaths[at].name);
  return names.reverse().join("<");
}
