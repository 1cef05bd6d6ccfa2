// The callpath tree as a table whose rows open and close.

import { element, meanCell, nameElement, numberCell, rankButton, shareCell, shareText, timeCell, waitsElement } from "./elements.js";
import { aboveMean, count, counted } from "./numbers.js";
import { sortHeading } from "./table.js";
import { onPaper } from "./theme.js";

/** The share of all time below which callpaths are initially closed. */
const OPEN_SHARE = 0.01;
const CHILDREN_SHOWN = 40;
/** The columns: key, title, and the number by which callpaths below one callpath are sorted. */
const COLUMNS = [
  ["name", "Callpath"],
  ["visits", "Visits", (callpath) => callpath.visits],
  ["mean", "Mean per rank", (_, spread) => spread?.mean],
  ["max", "Slowest rank", (_, spread) => spread?.max],
  ["share", "Share", (_, spread) => spread?.sum],
  ["rank", "Slowest", (_, spread) => spread?.max_rank],
  ["above", "Above mean", (_, spread) => spread?.imbalance],
];

export class Tree {
  /** `pick(row)`: called when a callpath is chosen. */
  constructor(profile, pick) {
    this.profile = profile;
    this.pick = pick;
    this.kind = "inclusive";
    this.selected = null;
    this.unlimited = new Set();
    this.open = new Set(profile.callpaths.filter((callpath) => callpath.share >= OPEN_SHARE).map((callpath) => callpath.row));
    this.sort = { key: "inclusive", direction: "descending" };
    this.body = element("tbody");
    this.head = element("tr");
    this.table = element("table", { className: "tree", role: "treegrid", "aria-label": "Callpath tree" });
    this.table.append(element("thead", {}, this.head), this.body);
    this.box = element("div", { className: "scroll tall" }, this.table);
    this.body.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Shows inclusive or exclusive times, and those of `rank` in a column if it is not null. */
  show(kind, selected, rank) {
    this.kind = kind;
    this.rank = rank;
    if (selected !== this.selected && selected !== null) this.#openTo(selected);
    this.selected = selected;
    this.draw();
  }

  #openTo(row) {
    for (let at = this.profile.callpaths[row].parent; at !== null; at = this.profile.callpaths[at].parent) {
      this.open.add(at);
      this.unlimited.add(at);
    }
  }

  draw() {
    this.columns = [...COLUMNS];
    if (this.rank !== null) this.columns.splice(4, 0, ["own", `Rank ${this.rank}`, (callpath) => this.#ofRank(callpath)]);
    this.head.replaceChildren(...this.columns.map(([key, title]) => this.#heading(key, title)));
    const isPaper = onPaper();
    const rows = [];
    const stack = [{ list: this.#sorted(this.profile.roots), at: 0, more: 0, level: 1 }];
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      if (top.at === top.list.length) {
        if (top.more > 0) rows.push(this.#moreRow(top));
        stack.pop();
        continue;
      }
      const callpath = top.list[top.at++];
      rows.push(this.#row(callpath, top.level));
      if ((isPaper || this.open.has(callpath.row)) && callpath.children.length > 0) {
        const all = this.#sorted(callpath.children);
        const list = isPaper || this.unlimited.has(callpath.row) ? all : all.slice(0, CHILDREN_SHOWN);
        stack.push({ list, at: 0, more: all.length - list.length, level: top.level + 1, parent: callpath.row });
      }
    }
    this.body.replaceChildren(...rows);
    const wanted = this.body.querySelector("[aria-selected=true]") ?? this.body.querySelector("tr");
    if (wanted) wanted.tabIndex = 0;
  }

  #heading(key, title) {
    const { direction } = this.sort;
    return sortHeading(title, this.sort.key === key ? direction : null, () => {
      const usual = key === "name" ? "ascending" : "descending";
      const other = usual === "descending" ? "ascending" : "descending";
      this.sort = { key, direction: this.sort.key === key && direction === usual ? other : usual };
      this.draw();
      this.head.cells[this.columns.findIndex(([own]) => own === key)].querySelector("button").focus();
    });
  }

  #sorted(callpaths) {
    const { key, direction } = this.sort;
    const sign = direction === "ascending" ? 1 : -1;
    const number = this.columns.find(([own]) => own === key)?.[2] ?? ((callpath) => callpath.inclusive_ns?.sum);
    const known = (callpath) => {
      const found = number(callpath, this.#spread(callpath));
      return Number.isFinite(found) ? found : -Infinity;
    };
    const keyOf = key === "name" ? (callpath) => callpath.text : known;
    const keyed = callpaths.map((callpath) => [keyOf(callpath), callpath]);
    keyed.sort(([a], [b]) => (a < b ? -sign : a > b ? sign : 0));
    return keyed.map(([, callpath]) => callpath);
  }

  #spread(callpath) {
    return this.kind === "inclusive" ? callpath.inclusive_ns : callpath.exclusive_ns;
  }

  #ofRank(callpath) {
    return this.profile.timeOnRank(callpath.row, this.rank, this.kind);
  }

  /** Returns the cell of the selected rank. */
  #rankCell(callpath) {
    const ns = this.#ofRank(callpath);
    if (ns === ns) return timeCell(ns);
    return element("td", { className: "number quiet", textContent: "never" });
  }

  #moreRow({ more, level, parent }) {
    const show = () => {
      this.unlimited.add(parent);
      this.draw();
    };
    const button = element("button", { type: "button", className: "link", textContent: `${counted(more, "smaller callpath")}`, onclick: show });
    const cell = element("td", { colSpan: this.columns.length }, button);
    cell.style.paddingLeft = indent(level);
    return element("tr", { role: "row" }, cell);
  }

  #row(callpath, level) {
    const spread = this.#spread(callpath);
    const isOpen = this.open.has(callpath.row);
    const hasChildren = callpath.children.length > 0;
    const sign = element("span", { className: "sign", "aria-hidden": "true", textContent: hasChildren ? (isOpen ? "▾" : "▸") : "·" });
    const name = element("th", { scope: "row", className: "tree-name" }, sign, nameElement(callpath.text));
    name.style.paddingLeft = indent(level);
    const estimate = spread?.standard_error ? "~" : "";
    const share = this.kind === "inclusive" ? callpath.share : callpath.exclusive_share;
    const row = element(
      "tr",
      {
        role: "row",
        tabIndex: -1,
        "aria-level": level,
        "aria-selected": String(callpath.row === this.selected),
        "aria-expanded": hasChildren ? String(isOpen) : undefined,
        "data-row": callpath.row,
      },
      name,
      numberCell(count(callpath.visits), callpath.visits),
      meanCell(spread, callpath.ranks, this.profile.report.ranks, estimate),
      timeCell(spread?.max),
      this.rank === null ? null : this.#rankCell(callpath),
      shareCell(share, 1, shareText(share, spread?.sum)),
      element("td", { className: "rank", "data-exact": spread?.max_rank }, spread ? rankButton(this.profile, spread.max_rank) : null, waitsElement(callpath.waits_for)),
      numberCell(aboveMean(spread?.imbalance ?? null, callpath.ranks), spread?.imbalance ?? null),
    );
    row.onclick = (event) => {
      if (event.target.closest("button")) return;
      if (event.target === sign) this.#toggle(callpath.row);
      this.pick(callpath.row);
    };
    return row;
  }

  #toggle(row) {
    if (!this.open.delete(row)) this.open.add(row);
    this.draw();
  }

  #key(event) {
    const focused = event.target.closest("tr");
    const isOfButton = event.target.closest("button") && !event.key.startsWith("Arrow");
    if (!focused?.dataset.row || isOfButton) return;
    const rows = [...this.body.querySelectorAll("tr[data-row]")];
    const at = rows.indexOf(focused);
    const row = Number(focused.dataset.row);
    const { children, parent } = this.profile.callpaths[row];
    let to = row;
    if (event.key === "ArrowDown") to = Number(rows[Math.min(rows.length - 1, at + 1)].dataset.row);
    else if (event.key === "ArrowUp") to = Number(rows[Math.max(0, at - 1)].dataset.row);
    else if (event.key === "ArrowRight" && children.length > 0) this.open.add(row);
    else if (event.key === "ArrowLeft" && this.open.has(row) && children.length > 0) this.open.delete(row);
    else if (event.key === "ArrowLeft" && parent !== null) to = parent;
    else if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    this.pick(to);
    this.draw();
    this.body.querySelector(`tr[data-row="${to}"]`)?.focus();
  }
}

function indent(level) {
  return `${Math.min(level, 24) * 0.9}rem`;
}
