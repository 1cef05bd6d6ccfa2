// A profile in the form that the views need.

import { exactOf, numbersOf } from "./columns.js";
import { shown } from "./names.js";

export class Profile {
  #bytes;

  constructor({ head, bytes }) {
    this.#bytes = bytes;
    Object.assign(this, head);
    this.callpaths = this.report.callpaths;
    this.callpaths.forEach((callpath, row) => {
      callpath.row = row;
      callpath.children = [];
      callpath.text = shown(callpath.name);
      if (callpath.parent !== null) this.callpaths[callpath.parent].children.push(callpath);
    });
    this.roots = this.callpaths.filter((callpath) => callpath.parent === null);
    this.rowOf = new Map(this.ranks.rows.map((row) => [row.callpath, row]));
    this.iterationsOf = new Map(this.iterations.map((series) => [series.callpath, series]));
    this.executionsOf = new Map(this.executions.map((boxes) => [boxes.callpath, boxes]));
  }

  /** Returns the numbers of a column, which are decoded on first use. */
  numbers(column) {
    column.numbers ??= numbersOf(this.#bytes, column);
    return column.numbers;
  }

  /** Returns the exact numbers of a column among those from `base` on, in `numbers` if it is given. */
  exact(column, base, numbers) {
    return exactOf(this.#bytes, column, base, numbers);
  }

  /** Returns the column of a callpath's times by rank. A leaf has only one time. */
  times(row, kind) {
    return kind === "exclusive" && row.exclusive_ns ? row.exclusive_ns : row.inclusive_ns;
  }

  /**
   * Returns the time of a callpath on one rank: NaN if it never came there, undefined if the page
   * has no value of this rank alone.
   */
  timeOnRank(row, rank, kind) {
    const { exclusive_ns, inclusive_ns } = this.callpaths[row];
    const spread = kind === "exclusive" ? exclusive_ns : inclusive_ns;
    if (spread?.max_rank === rank) return spread.max;
    const values = this.rowOf.get(row);
    if (!values || this.ranks.ranks_per_bin > 1) return undefined;
    return this.numbers(this.times(values, kind))[rank];
  }

  /** Returns the path as text, with at most its last few names. */
  path(row, names = 6) {
    const parts = [];
    for (let at = row; at !== null; at = this.callpaths[at].parent) {
      if (parts.length === names) {
        parts.push("…");
        break;
      }
      parts.push(this.callpaths[at].text);
    }
    return parts.reverse().join(" › ");
  }

  /** Returns the name of a rank's host; empty if it is not known. */
  host(rank) {
    const name = this.hosts[this.host_of_rank[rank]];
    return name ? shown(name) : "";
  }

  /** Returns a rank in words, with its host if there are several. */
  rankText(rank) {
    const host = this.hosts.length > 1 ? this.host(rank) : "";
    return host ? `rank ${rank} on ${host}` : `rank ${rank}`;
  }

  /** Describes the ranks of a bin in words. */
  binText(bin, ranksPerBin) {
    if (ranksPerBin === 1) return this.rankText(bin);
    const last = Math.min((bin + 1) * ranksPerBin, this.host_of_rank.length) - 1;
    return `ranks ${bin * ranksPerBin} to ${last}, mean`;
  }
}
