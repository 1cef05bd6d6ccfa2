// Communication: the matrix of ranks, the largest pairs, the sizes of messages, and MPI functions.

import { choice, callpathButton, element, nothing, numberCell, picker, rankButton, shareCell, shareText, timeCell } from "./elements.js";
import { Grid, legend } from "./grid.js";
import { DECADES, amountColor, logColor } from "./colors.js";
import { binarySize, count, counted, data, percent, time } from "./numbers.js";
import { onSelection, select, selection } from "./selection.js";
import { shown } from "./names.js";
import { sortHeading, sortable } from "./table.js";
import { letterHeight, timed } from "./canvas.js";
import { Waiting } from "./waiting.js";

const MATRIX_HEIGHT = 384;
const FUNCTIONS_MAX = 300;

const KINDS = {
  message_out: "messages sent",
  message_in: "messages received",
  collective_out: "collective operations, bytes put in",
  collective_in: "collective operations, bytes received",
  one_sided_out: "one-sided, written",
  one_sided_in: "one-sided, read",
  file_out: "files, written",
  file_in: "files, read",
};

/** The columns of the table of functions: key, title, and the number that sorts it. */
const FUNCTION_COLUMNS = [
  ["calls", "Calls"],
  ["ns", "Time"],
  ["share", "Share"],
  ["bytes_out", "Bytes out"],
  ["bytes_in", "Bytes in"],
];

export class CommunicationView {
  constructor(profile) {
    this.profile = profile;
    this.found = profile.communication;
    this.waiting = profile.waiting && new Waiting(profile);
    this.state = { cell: null, measure: "bytes", kind: this.found.sizes[0]?.kind, rows: "callpaths", sort: "ns" };
    this.note = element("p", { className: "note" });
    this.legendBox = element("div");
    this.pairsBox = element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Largest pairs of ranks" });
    this.causesBox = element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Callpaths of the chosen cell" });
    this.causesBox.hidden = true;
    this.sizesBox = element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Sizes of messages" });
    this.functionsBox = element("div", { className: "scroll tall", tabIndex: 0, role: "region", "aria-label": "MPI functions" });
    this.grid = new Grid({
      label: "Heat map of messages, a row for each sender, a column for each receiver; the table of the largest pairs follows",
      left: 6.5 * letterHeight(),
      height: () => MATRIX_HEIGHT,
      tell: (row, column) => this.#lines(row, column),
      pick: (row, column) => this.#pick(row, column),
    });
    this.pairsOrder = {};
    this.matrices = this.#matrices();
    const hasPairs = this.found.pairs > 0;
    const matrix = element(
      "div",
      { className: "communication" },
      element("figure", { className: "side" }, this.legendBox, this.grid.box),
      this.pairsBox,
    );
    this.measures = choice("Show", ["bytes", "messages", ...(this.waiting ? ["waiting"] : [])].map((key) => [key, key]), "bytes", (measure) => this.#set({ measure }));
    const hasMatrix = hasPairs || Boolean(this.waiting);
    this.note.hidden = !hasMatrix;
    this.panel = element(
      "div",
      {},
      element(
        "div",
        { className: hasMatrix ? "controls" : "", hidden: !hasMatrix },
        this.measures,
        element("button", { type: "button", textContent: "Zoom in", onclick: () => this.grid.zoom(0.5) }),
        element("button", { type: "button", textContent: "Zoom out", onclick: () => this.grid.zoom(2) }),
      ),
      this.note,
      hasMatrix ? matrix : nothing("No rank sends a message to another."),
      this.causesBox,
      element("h2", { className: "part", textContent: "Sizes" }),
      element("div", { className: "controls" }, picker("Kind", this.found.sizes.map(({ kind }) => [kind, KINDS[kind] ?? kind]), this.state.kind, (kind) => this.#set({ kind }))),
      this.sizesBox,
      element("h2", { className: "part", textContent: "Functions" }),
      element("div", { className: "controls" }, choice("Rows", [["callpaths", "callpaths"], ["functions", "functions"]], "callpaths", (rows) => this.#set({ rows }))),
      this.functionsBox,
    );
    onSelection(() => this.panel.isConnected && this.draw());
  }

  #set(change) {
    Object.assign(this.state, change);
    this.draw();
  }

  /** Shows the waiting, and the callpaths behind a cell, if it is not null. */
  showWaiting(cell) {
    [...this.measures.querySelectorAll("button")].find(({ textContent }) => textContent === "waiting")?.click();
    this.state.cell = cell;
    this.#drawCauses();
  }

  draw() {
    timed("draw communication", () => {
      this.#drawMatrix();
      this.pairsBox.replaceChildren(this.#pairs());
      this.#drawCauses();
      this.sizesBox.replaceChildren(this.#sizes());
      this.functionsBox.replaceChildren(this.#functions());
    });
  }

  /** Returns messages and bytes by row and column of the matrix; NaN where there are none. */
  #matrices() {
    const { bins, gaps, messages, bytes } = this.found;
    const [distances, counts, sums] = [gaps, messages, bytes].map((column) => this.profile.numbers(column));
    const made = { messages: new Float64Array(bins * bins).fill(NaN), bytes: new Float64Array(bins * bins).fill(NaN) };
    let cell = 0;
    distances.forEach((distance, at) => {
      cell += distance;
      made.messages[cell] = counts[at];
      made.bytes[cell] = sums[at];
    });
    if (this.waiting) made.waiting = this.waiting.matrix(bins * bins);
    this.greatest = { waiting: made.waiting?.reduce((a, b) => (b > a ? b : a), 1), messages: counts.reduce((a, b) => Math.max(a, b), 1), bytes: sums.reduce((a, b) => Math.max(a, b), 1) };
    return made;
  }

  #drawMatrix() {
    const { bins, ranks_per_bin } = this.found;
    const { measure } = this.state;
    const numbers = this.matrices[measure];
    const greatest = this.greatest[measure];
    this.grid.show({
      rows: bins,
      columns: bins,
      order: null,
      numbers: (row) => numbers.subarray(row * bins, (row + 1) * bins),
      color: (value) => logColor(value, greatest),
      rowText: (row) => this.#ranksText(row),
      isSelected: (row) => selection().rank !== null && row === Math.floor(selection().rank / ranks_per_bin),
      gapsAreZero: true,
      selectedColumn: selection().rank === null ? null : Math.floor(selection().rank / ranks_per_bin),
      axis: (column) => (measure === "waiting" ? `${this.#ranksText(column)} waits` : `to ${this.#ranksText(column)}`),
    });
    const stops = Array.from({ length: DECADES + 1 }, (_, down) => [this.#amount(greatest / 10 ** down), amountColor(1 - down / DECADES)]);
    this.legendBox.replaceChildren(legend("Colour:", stops.filter((_, down) => greatest / 10 ** down >= 1)));
    this.note.textContent = this.#noteText();
  }

  #noteText() {
    const { ranks_per_bin, elsewhere } = this.found;
    const isWaiting = this.state.measure === "waiting";
    const parts = isWaiting
      ? ["Each row is a rank that is waited for, each column a rank that waits. Enter or a click on a cell shows the callpaths of both.", ...unfollowedWords(this.profile.report.mpi)]
      : ["Each row is a sender, each column a receiver. Collective operations are not in the matrix."];
    if (ranks_per_bin > 1) parts.push(`${count(ranks_per_bin)} neighbouring ranks share a row and a column, which show their sum.`);
    if (this.grid.content && this.found.bins > MATRIX_HEIGHT) parts.push("Where ranks share a pixel the largest of them shows.");
    if (isWaiting && this.profile.waiting.for_unknown_ns > 0) parts.push(`${time(this.profile.waiting.for_unknown_ns)} of waiting was for ranks that are not known.`);
    if (!isWaiting && elsewhere[0] > 0) parts.push(`${counted(elsewhere[0], "message")} of ${data(elsewhere[1])} went to receivers that are not known or not ranks of this profile.`);
    return parts.join(" ");
  }

  #amount(value) {
    const rounded = Math.round(value);
    if (this.state.measure === "waiting") return time(rounded);
    return this.state.measure === "bytes" ? data(rounded) : count(rounded);
  }

  /** Returns the ranks of a row or column: `3`, or `4–7`. */
  #ranksText(bin) {
    const [first, last] = this.#ranksOf(bin);
    return first === last ? String(first) : `${first}–${last}`;
  }

  #ranksOf(bin) {
    const per = this.found.ranks_per_bin;
    return [bin * per, Math.min((bin + 1) * per, this.profile.host_of_rank.length) - 1];
  }

  #ranksWords(bin) {
    const [first, last] = this.#ranksOf(bin);
    return first === last ? this.profile.rankText(first) : `ranks ${first} to ${last}`;
  }

  #lines(row, column) {
    const at = row * this.found.bins + column;
    if (this.state.measure === "waiting") {
      const ns = this.matrices.waiting[at];
      const ends = [`${this.#ranksWords(column)} waiting`, `for ${this.#ranksWords(row)}`];
      return ns === ns ? [...ends, time(ns), ...this.waiting.lines(at)] : [...ends, "no waiting is known"];
    }
    const [messages, bytes] = [this.matrices.messages[at], this.matrices.bytes[at]];
    const ends = [`from ${this.#ranksWords(row)}`, `to ${this.#ranksWords(column)}`];
    if (messages !== messages) return [...ends, "no messages"];
    return [...ends, counted(messages, "message"), data(bytes), `${data(Math.round(bytes / messages))} a message`];
  }

  /** Selects the rank of a row, and shows who waits in which callpath for what. */
  #pick(row, column) {
    this.state.cell = column === null ? null : row * this.found.bins + column;
    if (this.found.ranks_per_bin === 1) select({ rank: row });
    this.#drawCauses();
  }

  #drawCauses() {
    const { cell } = this.state;
    const ns = cell === null || !this.waiting ? NaN : this.matrices.waiting[cell];
    this.causesBox.hidden = ns !== ns;
    if (ns !== ns) return;
    const [row, column] = [Math.floor(cell / this.found.bins), cell % this.found.bins];
    const title = `${this.#ranksWords(column)} waiting ${time(ns)} for ${this.#ranksWords(row)}`;
    this.causesBox.replaceChildren(this.waiting.table(cell, title));
  }

  #pairs() {
    const { measure } = this.state;
    const isWaiting = measure === "waiting";
    const { largest, pairs } = this.found;
    const all = isWaiting ? this.profile.waiting.pairs : pairs;
    const rows = isWaiting ? this.waiting.pairRows() : largest[measure].map(([from, to, messages, bytes]) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, rankButton(this.profile, from)),
        element("td", {}, rankButton(this.profile, to)),
        numberCell(count(messages), messages),
        numberCell(data(bytes), bytes, "bytes"),
      ),
    );
    const table = element("table", { className: "pairs" });
    const title = rows.length < all ? `The ${rows.length} largest of ${counted(all, "pair")} by ${measure}` : `${counted(all, "pair")} by ${measure}`;
    const heads = isWaiting ? ["Waited for", "Waits", "Times", "Waiting"] : ["From", "To", "Messages", "Bytes"];
    table.append(element("caption", { textContent: title }), head(heads), element("tbody", {}, ...rows));
    return sortable(table, this.pairsOrder);
  }

  #sizes() {
    const found = this.found.sizes.find(({ kind }) => kind === this.state.kind);
    if (!found) return nothing("There is no message.");
    const of = new Map(found.classes.map(([size, messages, bytes]) => [size, { messages, bytes }]));
    const known = [...of.keys()];
    const greatest = (key) => Math.max(...[...of.values()].map((one) => one[key]));
    const [most, largest] = [greatest("messages"), greatest("bytes")];
    const rows = [];
    for (let size = known[0]; size <= known[known.length - 1]; size += 1) {
      const { messages, bytes } = of.get(size) ?? { messages: 0, bytes: 0 };
      rows.push(
        element("tr", {}, element("th", { scope: "row", textContent: sizeText(size) }), shareCell(messages, most, count(messages)), shareCell(bytes, largest, data(bytes))),
      );
    }
    const table = element("table", { className: "sizes" });
    table.append(head(["Size", "Messages", "Bytes"]), element("tbody", {}, ...rows));
    return table;
  }

  #functions() {
    const { sort, rows: kind } = this.state;
    const all = kind === "callpaths" ? this.#byCallpath() : this.#byFunction();
    const order = (a, b) => (sort === "name" ? (a.name < b.name ? -1 : a.name > b.name ? 1 : b.ns - a.ns) : b[sort] - a[sort]);
    all.sort(order);
    const greatest = Math.max(...all.map(({ share }) => share));
    const rows = all.slice(0, FUNCTIONS_MAX).map((row) =>
      element(
        "tr",
        { "aria-selected": row.callpath === undefined ? undefined : String(row.callpath === selection().callpath) },
        element("th", { scope: "row" }, row.label, element("bdi", { className: "path", textContent: row.under })),
        numberCell(count(row.calls), row.calls),
        timeCell(row.ns),
        shareCell(row.share, greatest, shareText(row.share, row.ns)),
        numberCell(data(row.bytes_out), row.bytes_out, "bytes"),
        numberCell(data(row.bytes_in), row.bytes_in, "bytes"),
      ),
    );
    const sortable = [["name", "Function"], ...FUNCTION_COLUMNS].map(([key, title]) => this.#heading(key === "share" ? "ns" : key, title, key));
    const table = element("table", { className: "functions" });
    table.append(element("thead", {}, element("tr", {}, ...sortable)), element("tbody", {}, ...rows));
    if (rows.length < all.length) table.prepend(element("caption", { textContent: `The first ${count(rows.length)} of ${count(all.length)} rows` }));
    return table;
  }

  #heading(by, textContent, key) {
    const isSorted = this.state.sort === by && key !== "share";
    const direction = by === "name" ? "ascending" : "descending";
    const heading = sortHeading(textContent, isSorted ? direction : null, () => this.#sortBy(by, key));
    heading.firstChild.dataset.sort = key;
    return heading;
  }

  #sortBy(sort, key) {
    this.#set({ sort });
    // The heading was made anew.
    this.functionsBox.querySelector(`[data-sort="${key}"]`)?.focus();
  }

  #byCallpath() {
    return this.found.callpaths.map(({ callpath: row, function: name, place, bytes_out, bytes_in }) => {
      const { callpaths } = this.profile;
      const callpath = callpaths[row];
      const text = name === null ? callpath.text : shown(name);
      const above = callpath.parent === null ? null : this.profile.path(callpath.parent);
      const under = [above, place && `at ${shown(place)}`].filter(Boolean).join(", ");
      const label = callpathButton(text, () => select({ callpath: row }));
      return { callpath: row, name: text, label, under, ...timesOf(callpath), bytes_out, bytes_in };
    });
  }

  #byFunction() {
    const sums = new Map();
    for (const { name, calls, ns, share, bytes_out, bytes_in } of this.#byCallpath()) {
      const sum = sums.get(name) ?? { name, callpaths: 0, calls: 0, ns: 0, share: 0, bytes_out: 0, bytes_in: 0 };
      sums.set(name, { name, callpaths: sum.callpaths + 1, calls: sum.calls + calls, ns: sum.ns + ns, share: sum.share + share, bytes_out: sum.bytes_out + bytes_out, bytes_in: sum.bytes_in + bytes_in });
    }
    const label = (name) => element("bdi", { className: "name", textContent: name, title: name });
    return [...sums.values()].map((sum) => ({ ...sum, label: label(sum.name), under: counted(sum.callpaths, "callpath") }));
  }
}

/** Returns how much of the time in MPI hides waiting that is not known, as in `tinyprof waits`. */
function unfollowedWords(mpi) {
  if (!mpi?.unfollowed_ns) return [];
  return [`${percent(mpi.unfollowed_ns / mpi.time_ns)} of the time in MPI is in calls that are not followed.`];
}

function timesOf({ visits, exclusive_ns, exclusive_share: share }) {
  return { calls: visits, ns: exclusive_ns?.sum ?? 0, share };
}

function head(titles) {
  return element("thead", {}, element("tr", {}, ...titles.map((textContent) => element("th", { scope: "col", textContent }))));
}

/** Returns the sizes of a class: the number of binary digits of the size. */
function sizeText(digits) {
  if (digits <= 1) return `${digits} B`;
  return `${binarySize(digits - 1)} to < ${binarySize(digits)}`;
}
