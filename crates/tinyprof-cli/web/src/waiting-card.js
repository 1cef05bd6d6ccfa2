// Who waits for whom, in small, beside the verdict of the summary.

import { card, element } from "./elements.js";
import { Grid } from "./grid.js";
import { logColor } from "./colors.js";
import { letterHeight } from "./canvas.js";
import { time } from "./numbers.js";
import { Waiting } from "./waiting.js";

const HEIGHT_LETTERS = 9;

export class WaitingCard {
  /** `goTo(cell)`: opens the whole matrix, with the callpaths behind a cell, if one is chosen. */
  constructor(profile, goTo) {
    this.profile = profile;
    this.waiting = new Waiting(profile);
    const { bins } = profile.communication;
    this.numbers = this.waiting.matrix(bins * bins);
    this.grid = new Grid({
      label: "Who waits for whom: a row for each rank that is waited for, a column for each that waits",
      left: 6 * letterHeight(),
      height: () => HEIGHT_LETTERS * letterHeight(),
      tell: (row, column) => this.#lines(row, column),
      pick: (row, column) => goTo(column === null ? null : row * bins + column),
    });
    const open = element("button", { type: "button", className: "link", textContent: "Show the callpaths", onclick: () => goTo(null) });
    const words = element("p", { className: "hint-evidence" }, "Columns wait for rows. ", open);
    this.card = card("Who waits for whom", element("div", {}, this.grid.box, words), "smaller waits-card");
  }

  draw() {
    const { bins } = this.profile.communication;
    const greatest = this.numbers.reduce((a, b) => (b > a ? b : a), 1);
    this.grid.show({
      rows: bins,
      columns: bins,
      order: null,
      numbers: (row) => this.numbers.subarray(row * bins, (row + 1) * bins),
      color: (value) => logColor(value, greatest),
      rowText: (row) => `for ${this.#first(row)}`,
      gapsAreZero: true,
      axis: (column) => `${this.#first(column)} waits`,
    });
  }

  #first(bin) {
    return bin * this.profile.communication.ranks_per_bin;
  }

  #words(bin) {
    const per = this.profile.communication.ranks_per_bin;
    return per === 1 ? this.profile.rankText(bin) : `ranks ${bin * per} to ${Math.min((bin + 1) * per, this.profile.host_of_rank.length) - 1}`;
  }

  #lines(row, column) {
    const cell = row * this.profile.communication.bins + column;
    const ns = this.numbers[cell];
    const ends = [`${this.#words(column)} waiting`, `for ${this.#words(row)}`];
    return ns === ns ? [...ends, time(ns), ...this.waiting.lines(cell)] : [...ends, "no waiting is known"];
  }
}
