// Two sides of runs, callpath by callpath: what changed, by how much, and whether chance explains
// it.

import { Flame } from "./flame.js";
import { element, nameElement, nothing, numberCell, overAll, timeCell } from "./elements.js";
import { count, deviation, percent, time } from "./numbers.js";
import { changeColor, changeLegend } from "./change-colors.js";
import { frames } from "./frames.js";
import { headlineOf } from "./headline.js";
import { shown } from "./names.js";
import { sortable } from "./table.js";
import { onSelection, select, selection } from "./selection.js";

const ROWS_MAX = 1000;
const HEADINGS = ["Callpath", "Before", "After", "Difference", "95 % interval", "Change", "Visible", "Effect g", "Verdict"];
const SIGNS = { up: "▲ up", down: "▼ down", unclear: "unclear", unjudged: "unjudged", equal: "equal", new: "+ new", gone: "− gone" };

export class CompareView {
  constructor(profiles, comparison) {
    this.comparison = comparison;
    this.byPath = new Map(comparison.callpaths.filter(({ path }) => path !== null).map((row) => [row.path, row]));
    [this.base, this.new] = profiles.map((profile) => ({ profile, rows: pathsOf(profile) }));
    this.legendBox = element("div");
    this.whole = 0;
    this.flames = [this.base, this.new].map((side, at) => this.#flame(side, at === 0 ? "base" : "new"));
    const sides = this.flames.map((flame, at) => element("figure", { className: "side" }, element("figcaption", {}, ...captionOf(at === 0 ? "Before" : "After", at === 0 ? comparison.base : comparison.new)), flame.box));
    const rows = changesFirst(comparison.callpaths).slice(0, ROWS_MAX);
    const notes = comparison.notes.map((note) => element("li", {}, element("bdi", {}, note)));
    this.panel = element(
      "div",
      {},
      headlineOf(comparison),
      element("p", { className: "note" }, noteText(comparison, comparison.callpaths.length - rows.length)),
      element("ul", { className: "note" }, ...notes),
      this.legendBox,
      element("div", { className: "sides" }, ...sides),
      rows.length > 0 ? this.#table(rows) : nothing("Neither run visited a region."),
    );
    onSelection(() => this.panel.isConnected && this.draw());
  }

  draw() {
    const { callpath } = selection();
    this.legendBox.replaceChildren(changeLegend());
    const path = callpath === null ? null : pathOf(this.new.profile, callpath);
    this.flames[1].show({ selected: callpath });
    this.flames[0].show({ selected: path === null ? null : (this.base.rows.get(path) ?? null) });
    for (const row of this.body.rows) row.setAttribute("aria-selected", String(path !== null && row.path === path));
  }

  /** Returns a flame graph with the times of the table; both have one scale and one order. */
  #flame(side, key) {
    const rowOf = (callpath) => this.byPath.get(pathOf(side.profile, callpath.row));
    // Regions of one name below one callpath are one row of the comparison: the first has its time.
    const isFirst = (callpath) => side.rows.get(pathOf(side.profile, callpath.row)) === callpath.row;
    const width = (callpath) => (isFirst(callpath) ? (rowOf(callpath)?.[key].mean ?? 0) : 0);
    const greater = (callpath) => Math.max(rowOf(callpath)?.base.mean ?? 0, rowOf(callpath)?.new.mean ?? 0);
    const order = (a, b) => greater(b) - greater(a) || (a.name < b.name ? -1 : 1);
    const layOut = () => frames(side.profile.roots, width, order);
    this.whole = Math.max(this.whole, layOut().total);
    return new Flame(side.profile, (row) => this.#pick(side, row), {
      frames: () => scaled(layOut(), this.whole),
      color: (callpath) => changeColor(rowOf(callpath)),
      words: (callpath) => changeWords(rowOf(callpath)),
    });
  }

  /** Returns a mean over all ranks and executions; for one run, with the ranks that never came. */
  #meanCell({ mean }, { profile, rows }, runs, path, mark) {
    const cell = timeCell(mean, mark);
    const { ranks = 0 } = profile.callpaths[rows.get(path)] ?? {};
    if (runs.length === 1 && ranks > 0 && ranks < runs[0].ranks) cell.append(element("span", { className: "path", textContent: overAll(ranks, runs[0].ranks) }));
    return cell;
  }

  #table(rows) {
    const greatest = Math.max(1, ...rows.map(({ difference, interval }) => Math.max(Math.abs(difference), ...(interval ?? []).map(Math.abs))));
    this.body = element("tbody", {}, ...rows.map((row) => this.#row(row, greatest)));
    const table = element("table", { className: "compare" });
    table.append(element("thead", {}, element("tr", {}, ...HEADINGS.map((textContent) => element("th", { scope: "col", textContent })))), this.body);
    sortable(table);
    return element("div", { className: "scroll tall", tabIndex: 0, role: "region", "aria-label": "Callpaths of both runs" }, table);
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
    const { path, name, depth, verdict, base, new: after, difference, interval, change, smallest_change: visible, hedges_g: effect } = row;
    const place = path === null ? undefined : this.new.rows.get(path);
    const label = place === undefined ? nameElement(shown(name)) : element("button", { type: "button", className: "link", onclick: () => select({ callpath: place }) }, nameElement(shown(name)));
    const above = place === undefined ? null : this.new.profile.callpaths[place].parent;
    const estimate = (side) => (side.standard_error_of_estimate === null ? "" : "~");
    const made = element(
      "tr",
      {},
      element("th", { scope: "row" }, label, element("bdi", { className: "path", textContent: above === null ? (depth > 0 ? "…" : "") : this.new.profile.path(above, 3) })),
      this.#meanCell(base, this.base, this.comparison.base, path, estimate(base)),
      this.#meanCell(after, this.new, this.comparison.new, path, estimate(after)),
      timeCell(difference, difference > 0 ? "+" : ""),
      element("td", {}, intervalBar(difference, interval, greatest), element("span", { className: "interval-words", textContent: intervalWords(interval) })),
      numberCell(deviation(change), change),
      numberCell(percent(visible), visible),
      numberCell(effectText(effect), effect),
      element("td", { className: `verdict ${verdict}`, textContent: SIGNS[verdict] ?? verdict }),
    );
    made.path = path;
    return made;
  }
}

/** Changes by their size, then differences that chance may explain, then what is equal. */
function changesFirst(callpaths) {
  const group = ({ verdict }) => ({ unjudged: 1, unclear: 2, equal: 3 })[verdict] ?? 0;
  return [...callpaths].sort((a, b) => group(a) - group(b) || Math.abs(b.difference) - Math.abs(a.difference));
}

function scaled(found, whole) {
  const factor = whole > 0 ? found.total / whole : 1;
  for (const frame of found.values()) [frame.x0, frame.x1] = [frame.x0 * factor, frame.x1 * factor];
  return found;
}

/** Returns the names of the runs of a side. The flame graph has the tree of the first. */
function captionOf(side, runs) {
  const names = runs.map(({ profile }) => shown(profile));
  const more = names.length > 1 ? ` (mean of ${count(names.length)} runs, callpaths of the first): ` : ": ";
  return [side + more, element("bdi", {}, names.join(", "))];
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

/** Formats Hedges' g as the terminal does. */
function effectText(effect) {
  if (effect === null) return "–";
  const sign = effect < 0 ? "−" : "+";
  return sign + (Math.abs(effect) < 99.95 ? Math.abs(effect).toFixed(1) : ">100");
}

/** Returns what the tooltip of a frame says about the change. */
function changeWords(row) {
  if (!row) return [];
  return [`${time(row.base.mean)} before, ${time(row.new.mean)} after: ${deviation(row.change)}, ${row.verdict}`, ...visibleWords(row), `interval of the difference: ${intervalWords(row.interval)}`];
}

/** Returns a sentence on the smallest change that could have been told from chance, if known. */
function visibleWords({ smallest_change: visible }) {
  return visible === null ? [] : [`less than ${percent(visible)} could not have been seen`];
}

function noteText({ confidence, false_discovery_rate, samples }, more) {
  const parts = [
    `Inclusive time per rank and execution; ${samples}.`,
    `Up and down are more than chance (at most ${percent(false_discovery_rate)} of these marks are expected to be wrong); the interval holds the true difference in ${percent(confidence)} of cases; less than what is visible could not have been told from chance; g is the difference in standard deviations.`,
    "All other views show the run after.",
  ];
  if (more > 0) parts.push(`The first ${count(ROWS_MAX)} callpaths are listed, changes first; tinyprof diff lists the other ${count(more)}, too.`);
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
