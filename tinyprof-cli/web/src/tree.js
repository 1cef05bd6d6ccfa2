// The callpath tree as a table whose rows open and close.

import { element, nameElement, numberCell, shareCell } from "./elements.js";
import { count, counted, deviation, percent, time } from "./numbers.js";

/** The share of all time below which callpaths are initially closed. */
const OPEN_SHARE = 0.01;
const CHILDREN_SHOWN = 40;
const COLUMNS = ["Callpath", "Visits", "Mean rank", "Slowest rank", "Share", "Slowest", "Above mean"];

export class Tree {
  /** `pick(row)`: called when a callpath is chosen. */
  constructor(profile, pick) {
    this.profile = profile;
    this.pick = pick;
    this.kind = "inclusive";
    this.selected = null;
    this.unlimited = new Set();
    this.open = new Set(profile.callpaths.filter((callpath) => callpath.share >= OPEN_SHARE).map((callpath) => callpath.row));
    this.body = element("tbody");
    this.table = element("table", { className: "tree", role: "treegrid", "aria-label": "Callpath tree" });
    this.table.append(
      element("thead", {}, element("tr", {}, ...COLUMNS.map((text) => element("th", { scope: "col", textContent: text })))),
      this.body,
    );
    this.box = element("div", { className: "scroll tall" }, this.table);
    this.body.addEventListener("keydown", (event) => this.#key(event));
  }

  show(kind, selected) {
    this.kind = kind;
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
    const rows = [];
    // Selects a callpath by its path. The views show the new run, so callpaths that only the base
    // run has cannot be selected.
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
      if (this.open.has(callpath.row) && callpath.children.length > 0) {
        const all = this.#sorted(callpath.children);
        const list = this.unlimited.has(callpath.row) ? all : all.slice(0, CHILDREN_SHOWN);
        stack.push({ list, at: 0, more: all.length - list.length, level: top.level + 1, parent: callpath.row });
      }
    }
    this.body.replaceChildren(...rows);
    const wanted = this.body.querySelector("[aria-selected=true]") ?? this.body.querySelector("tr");
    if (wanted) wanted.tabIndex = 0;
  }

  #sorted(callpaths) {
    const ns = (callpath) => callpath.inclusive_ns?.sum ?? 0;
    return [...callpaths].sort((a, b) => ns(b) - ns(a));
  }

  #moreRow({ more, level, parent }) {
    const show = () => {
      this.unlimited.add(parent);
      this.draw();
    };
    const button = element("button", { type: "button", className: "link", textContent: `${counted(more, "smaller callpath")}`, onclick: show });
    const cell = element("td", { colSpan: COLUMNS.length }, button);
    cell.style.paddingLeft = indent(level);
    return element("tr", { role: "row" }, cell);
  }

  #row(callpath, level) {
    const spread = this.kind === "inclusive" ? callpath.inclusive_ns : callpath.exclusive_ns;
    const total = this.profile.report.total_inclusive_ns || 1;
    const isOpen = this.open.has(callpath.row);
    const hasChildren = callpath.children.length > 0;
    const sign = element("span", { className: "sign", "aria-hidden": "true", textContent: hasChildren ? (isOpen ? "▾" : "▸") : "·" });
    const name = element("th", { scope: "row", className: "tree-name" }, sign, nameElement(callpath.text));
    name.style.paddingLeft = indent(level);
    const estimate = spread?.standard_error ? "~" : "";
    const share = (spread?.sum ?? 0) / total;
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
      numberCell(estimate + time(spread?.mean), spread?.mean ?? null),
      numberCell(time(spread?.max), spread?.max ?? null),
      shareCell(share, 1, percent(share)),
      element("td", { className: "rank" }, element("bdi", {}, spread ? this.profile.rankText(spread.max_rank) : "")),
      numberCell(deviation(spread?.imbalance ?? null), spread?.imbalance ?? null),
    );
    row.onclick = (event) => {
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
    if (!focused?.dataset.row) return;
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
