// The callpaths of a running job, as a tree whose rows stay where they are while their numbers change.

import { element, nameElement } from "./elements.js";
import { count, deviation, number, percent, time } from "./numbers.js";
import { amountColor, cssColor } from "./colors.js";
import { prepared } from "./canvas.js";
import { shown } from "./names.js";

/** Of more callpaths than a few, those with a smaller part of the time are folded; and all beyond the most rows. */
const FEW = 60;
const SHARE_MIN = 0.001;
const ROWS_MAX = 300;
const STRIP = [130, 12];

const COLUMNS = [
  ["share", "of the time of all ranks since the start"],
  ["now", "of the time between the last two looks"],
  ["inclusive", "on all ranks together"],
  ["visits", "on all ranks together"],
  ["visits/s", "between the last two looks"],
  ["imbalance", "the slowest rank's excess over the mean"],
  ["by rank", "from rank 0 on the left: the lighter, the longer"],
];

export class LiveCallpaths {
  /** `onSelect()` is called when another callpath is selected. */
  constructor(onSelect) {
    this.onSelect = onSelect;
    this.rows = new Map();
    this.folded = new Set();
    this.selected = null;
    this.body = element("tbody");
    const heads = COLUMNS.map(([text, title]) => element("th", { scope: "col", textContent: text, title }));
    const head = element("thead", {}, element("tr", {}, element("th", { scope: "col", textContent: "callpath" }), ...heads));
    this.note = element("p", { className: "note" });
    this.table = element("table", { className: "tree live" }, element("caption", { className: "unseen", textContent: "Callpaths of the running job" }), head, this.body);
    this.box = element("div", {}, element("div", { className: "scroll" }, this.table), this.note);
  }

  show(callpaths, ranks) {
    this.callpaths = callpaths;
    this.ranks = ranks;
    this.table.classList.toggle("of-one-rank", ranks === 1);
    const visible = this.#visible();
    const keys = new Set(visible.map(({ callpath }) => callpath.callpath));
    for (const [key, row] of this.rows) {
      if (keys.has(key)) continue;
      row.line.remove();
      this.rows.delete(key);
    }
    visible.forEach((one, at) => {
      const row = this.#row(one);
      if (this.body.children[at] !== row.line) this.body.insertBefore(row.line, this.body.children[at] ?? null);
      row.show(one);
    });
    if (!keys.has(this.selected)) this.selected = visible[0]?.callpath.callpath ?? null;
    this.#mark();
    const left = callpaths.length - visible.length;
    this.note.textContent = left > 0 ? `${count(left)} callpaths are folded, or have less than ${percent(SHARE_MIN)} of the time.` : "";
  }

  /** Returns the selected callpath, or undefined. */
  current() {
    return this.callpaths.find(({ callpath }) => callpath === this.selected);
  }

  /** Returns the rows from top to bottom; of those below one, the longest first. */
  #visible() {
    const below = new Map();
    this.callpaths.forEach((callpath, at) => {
      if (!below.has(callpath.parent)) below.set(callpath.parent, []);
      below.get(callpath.parent).push({ callpath, at });
    });
    const rows = [];
    const least = this.callpaths.length > FEW ? SHARE_MIN : 0;
    const add = (parent, depth) => {
      const children = (below.get(parent) ?? []).filter(({ callpath }) => callpath.share >= least || depth === 0);
      children.sort((a, b) => b.callpath.inclusive_ns - a.callpath.inclusive_ns || a.at - b.at);
      for (const { callpath, at } of children) {
        if (rows.length >= ROWS_MAX) return;
        const isFolded = this.folded.has(callpath.callpath);
        rows.push({ callpath, depth, isFolded, hasChildren: below.has(at) });
        if (!isFolded) add(at, depth + 1);
      }
    };
    add(null, 0);
    return rows;
  }

  #row({ callpath }) {
    const known = this.rows.get(callpath.callpath);
    if (known) return known;
    const made = new LiveRow(callpath, () => this.select(callpath.callpath), () => this.#fold(callpath.callpath));
    this.rows.set(callpath.callpath, made);
    return made;
  }

  #fold(key) {
    if (!this.folded.delete(key)) this.folded.add(key);
    this.show(this.callpaths, this.ranks);
  }

  select(key) {
    this.selected = key;
    this.#mark();
    this.onSelect();
  }

  #mark() {
    for (const [key, { line }] of this.rows) line.setAttribute("aria-selected", String(key === this.selected));
  }
}

/** A row of the table, which is made once. */
class LiveRow {
  constructor(callpath, select, fold) {
    this.sign = element("button", { type: "button", className: "link sign", onclick: fold });
    const name = element("button", { type: "button", className: "link", onclick: select }, nameElement(shown(callpath.name)));
    this.name = element("th", { scope: "row", className: "tree-name" }, this.sign, name);
    this.share = barCell();
    this.now = barCell();
    this.numbers = [1, 2, 3, 4].map(() => element("td", { className: "number" }));
    this.strip = element("canvas", { "aria-hidden": "true" });
    this.line = element("tr", {}, this.name, this.share.cell, this.now.cell, ...this.numbers, element("td", {}, this.strip));
  }

  show({ callpath, depth, isFolded, hasChildren }) {
    this.name.style.paddingLeft = `${10 + depth * 16}px`;
    this.sign.textContent = hasChildren ? (isFolded ? "▸" : "▾") : "";
    this.sign.disabled = !hasChildren;
    this.sign.setAttribute("aria-label", `${isFolded ? "Unfold" : "Fold"} ${shown(callpath.name)}`);
    this.sign.setAttribute("aria-expanded", String(!isFolded));
    this.share.show(callpath.share);
    this.now.show(callpath.now);
    const texts = [time(callpath.inclusive_ns), count(callpath.visits), number(callpath.visits_per_s), deviation(callpath.imbalance)];
    texts.forEach((text, at) => (this.numbers[at].textContent = text));
    drawStrip(this.strip, callpath.bins_ns);
  }
}

function barCell() {
  const fill = element("span", { className: "bar-fill" });
  const words = element("span", { className: "share-number" });
  const cell = element("td", { className: "share" }, element("span", { className: "bar-track", "aria-hidden": "true" }, fill), words);
  const show = (part) => {
    fill.style.width = `${Math.min(100, (part ?? 0) * 100)}%`;
    words.textContent = percent(part);
  };
  return { cell, show };
}

/** Draws the times of parts of the ranks, none as a gap. */
export function drawStrip(canvas, bins, [width, height] = STRIP) {
  const context = prepared(canvas, width, height);
  const most = bins.reduce((greatest, ns) => Math.max(greatest, ns ?? 0), 0) || 1;
  const each = width / (bins.length || 1);
  bins.forEach((ns, at) => {
    if (ns === null) return;
    context.fillStyle = cssColor(amountColor(ns / most));
    context.fillRect(at * each, 0, Math.max(1, each - (each > 4 ? 1 : 0)), height);
  });
}
