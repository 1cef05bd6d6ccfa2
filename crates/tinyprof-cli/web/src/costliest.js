// Where the time goes: the callpaths, or the regions summed over their callpaths, with the most
// exclusive time.

import { callpathButton, choice, element, meanCell, nothing, numberCell, rankButton, shareCell, shareText, timeCell, waitsElement } from "./elements.js";
import { aboveMean, count, counted } from "./numbers.js";
import { select, selection } from "./selection.js";
import { shown } from "./names.js";
import { sortable } from "./table.js";

const COSTLIEST = 10;
const COSTLIEST_HEADINGS = ["Visits", "Inclusive", "Exclusive", "Share", "Mean per rank", "Slowest rank", "Slowest", "Above mean"];

export class Costliest {
  /** `goTo(view)`: opens another view. */
  constructor(profile, goTo) {
    this.profile = profile;
    this.goTo = goTo;
    this.state = { rows: "callpaths" };
    this.orders = { callpaths: {}, regions: {} };
    this.tableBox = element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Where the time goes" });
    const set = (rows) => {
      this.state.rows = rows;
      this.draw();
    };
    this.box = element("div", {}, element("div", { className: "controls" }, choice("By", [["callpaths", "callpath"], ["regions", "region"]], "callpaths", set)), this.tableBox);
  }

  draw() {
    const { rows: kind } = this.state;
    const all = kind === "callpaths" ? costliestCallpaths(this.profile) : this.profile.regions.filter(({ exclusive_ns }) => exclusive_ns).slice(0, COSTLIEST);
    this.tableBox.replaceChildren(all.length === 0 ? nothing("No region was visited.") : this.#table(all, kind));
  }

  #table(all, kind) {
    // Start-up has time, and no share.
    const greatest = Math.max(...all.map((row) => row.exclusive_share));
    const rows = all.map((row) => (kind === "callpaths" ? this.#row(row, row.row, this.#above(row), greatest) : this.#row(row, placeOfRegion(this.profile, row), counted(row.callpaths, "callpath"), greatest)));
    const table = element("table", { className: `costliest by-${kind}` });
    const headings = [kind === "callpaths" ? "Callpath" : "Region", ...COSTLIEST_HEADINGS];
    table.append(
      element("thead", {}, element("tr", {}, ...headings.map((textContent) => element("th", { scope: "col", textContent })))),
      element("tbody", {}, ...rows),
    );
    return sortable(table, this.orders[kind]);
  }

  #above({ parent }) {
    return parent === null ? "" : this.profile.path(parent, 3);
  }

  /** Returns the row of a callpath or region; `place` is the callpath to which it leads, if any. */
  #row(row, place, under, greatest) {
    const { name, visits, ranks, exclusive_ns: own, inclusive_ns: whole } = row;
    const { report } = this.profile;
    const pick = () => {
      select({ callpath: place });
      this.goTo("tree");
    };
    const estimate = (spread) => (spread.standard_error === null ? "" : "~");
    return element(
      "tr",
      { "aria-selected": String(place !== null && place === selection().callpath) },
      element("th", { scope: "row" }, callpathButton(shown(name), pick), element("bdi", { className: "path", textContent: under })),
      numberCell(count(visits), visits),
      timeCell(whole.sum, estimate(whole)),
      timeCell(own.sum, estimate(own)),
      shareCell(row.exclusive_share, greatest, shareText(row.exclusive_share, own.sum)),
      meanCell(own, ranks, report.ranks),
      timeCell(own.max),
      element("td", { className: "rank", "data-exact": own.max_rank }, rankButton(this.profile, own.max_rank), waitsElement(row.waits_for)),
      numberCell(aboveMean(own.imbalance, ranks), own.imbalance),
    );
  }
}

function costliestCallpaths(profile) {
  const visited = profile.callpaths.filter(({ exclusive_ns }) => exclusive_ns);
  return visited.sort((a, b) => b.exclusive_ns.sum - a.exclusive_ns.sum).slice(0, COSTLIEST);
}

/**
 * Returns the callpath of a region with the most exclusive time; null if the page has none. The
 * calls of an MPI function are one region, from whatever site.
 */
function placeOfRegion(profile, { site, name }) {
  const isOf = (callpath) => callpath.site.id === site.id || callpath.name === name;
  const own = ({ exclusive_ns }) => exclusive_ns?.sum ?? 0;
  const found = profile.callpaths.filter(isOf);
  return found.length > 0 ? found.reduce((most, callpath) => (own(callpath) > own(most) ? callpath : most)).row : null;
}
