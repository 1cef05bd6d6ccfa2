// The waiting of ranks for each other: the numbers of the matrix, and the callpaths behind a cell.

import { callpathButton, element, numberCell, rankButton, timeCell } from "./elements.js";
import { count, time } from "./numbers.js";
import { select } from "./selection.js";

export class Waiting {
  constructor(profile) {
    this.profile = profile;
    this.found = profile.waiting;
    this.causes = new Map();
    for (const [cell, callpath, source, ns] of this.found.causes) {
      if (!this.causes.has(cell)) this.causes.set(cell, []);
      this.causes.get(cell).push({ callpath, source, ns });
    }
  }

  /** Returns the time in ns of each cell of a matrix with `cells` cells; NaN where nobody waits. */
  matrix(cells) {
    const made = new Float64Array(cells).fill(NaN);
    const [distances, times] = [this.found.gaps, this.found.ns].map((column) => this.profile.numbers(column));
    let cell = 0;
    distances.forEach((distance, at) => {
      cell += distance;
      made[cell] = times[at];
    });
    return made;
  }

  /** Returns a sentence for each of the callpaths behind a cell. */
  lines(cell) {
    return (this.causes.get(cell) ?? []).map(({ callpath, source, ns }) => `${time(ns)} in ${this.#name(callpath)}, for ${this.#name(source)}`);
  }

  /** Returns the rows of the largest pairs. */
  pairRows() {
    return this.found.largest.map(([from, to, times, ns]) =>
      element("tr", {}, element("th", { scope: "row" }, rankButton(this.profile, from)), element("td", {}, rankButton(this.profile, to)), numberCell(count(times), times), timeCell(ns)),
    );
  }

  /** Returns the table of the callpaths behind a cell; `title` says who waits for whom. */
  table(cell, title) {
    const link = (row) => (row === null ? "not known" : callpathButton(this.profile.path(row, 3), () => select({ callpath: row })));
    const rows = (this.causes.get(cell) ?? []).map(({ callpath, source, ns }) =>
      element("tr", {}, element("td", {}, link(callpath)), element("td", {}, link(source)), timeCell(ns)),
    );
    const heads = ["Waits in", "For", "Time"].map((textContent) => element("th", { scope: "col", textContent }));
    const table = element("table", { className: "causes" });
    const caption = rows.length > 0 ? title : `${title}. The callpaths of short waits are not in this page.`;
    table.append(element("caption", { textContent: caption }), element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows));
    return table;
  }

  #name(row) {
    return row === null ? "a call that is not known" : this.profile.callpaths[row].text;
  }
}
