// Ranks x regions: the time of each rank, and the regions in which ranks differ.

import { choice, element, nothing, picker, rankField } from "./elements.js";
import { Grid, NEVER, legend } from "./grid.js";
import { DECADES, amountColor, deviationColor, logColor, lossColor } from "./colors.js";
import { aboveMean, count, counted, deviation, time } from "./numbers.js";
import { onSelection, select, selection } from "./selection.js";
import { onPaper } from "./theme.js";
import { letterHeight, timed } from "./canvas.js";

/**
 * The ranges of colours of deviations: the first that is not below what is usual among the regions
 * is used.
 */
const LIMITS = [0.02, 0.05, 0.1, 0.25, 0.5, 1];
/** Regions with a smaller share of the time are folded, except the first ones. */
const SHARE_SHOWN = 0.01;
const ROWS_SHOWN = 8;
const SORTS = [["time", "time"], ["imbalance", "imbalance"], ["name", "name"], ["tree", "tree"]];

export class RanksView {
  key = "ranks";
  title = "Ranks";

  constructor(profile) {
    this.profile = profile;
    this.state = { kind: "exclusive", scale: "lost", sort: "time", order: "rank", isMean: false, isFolded: true };
    this.note = element("p", { className: "note" });
    this.legendBox = element("div");
    const { bins } = profile.ranks;
    if (bins === 0 || profile.ranks.rows.length === 0) {
      this.panel = element("div", {}, nothing("There is no rank with a region."));
      return;
    }
    this.grid = new Grid({
      label: "Heat map of ranks and regions",
      left: 16 * letterHeight(),
      right: 96,
      rowHeight: 16,
      onRange: () => this.#pixels(),
      tell: (row, column) => this.#lines(this.rows[row], column),
      pick: (row, column) => this.#pick(row, column),
    });
    this.panel = element(
      "div",
      {},
      element(
        "div",
        { className: "controls" },
        choice("Time", [["exclusive", "exclusive"], ["inclusive", "inclusive"]], this.state.kind, (kind) => this.#set({ kind })),
        choice("Colour", [["lost", "time lost"], ["relative", "against the mean"], ["absolute", "absolute"]], this.state.scale, (scale) => this.#set({ scale })),
        picker("Regions by", SORTS, this.state.sort, (sort) => this.#set({ sort })),
        picker("Ranks by", [["rank", "number"], ...(isOnHosts(profile) ? [["host", "host"]] : []), ["selected", "time in the selected region"]], "rank", (order) => this.#set({ order })),
        (this.pixelChoice = choice("Of ranks that share a pixel", [["slowest", "slowest"], ["mean", "mean"]], "slowest", (shown) => this.#set({ isMean: shown === "mean" }))),
        rankField(profile),
        element("button", { type: "button", textContent: "Zoom in", onclick: () => this.grid.zoom(0.5) }),
        element("button", { type: "button", textContent: "Zoom out", onclick: () => this.grid.zoom(2) }),
      ),
      this.note,
      this.legendBox,
      this.grid.box,
      (this.foldButton = element("button", { type: "button", className: "link", onclick: () => this.#set({ isFolded: !this.state.isFolded }) })),
    );
    onSelection(() => this.panel.isConnected && this.draw());
  }

  #set(change) {
    Object.assign(this.state, change);
    this.draw();
  }

  #pick(row, column) {
    const change = { callpath: this.rows[row].callpath.row };
    if (column !== null && this.profile.ranks.ranks_per_bin === 1) change.rank = column;
    select(change);
  }

  draw() {
    if (!this.grid) return;
    timed("draw ranks", () => this.#draw());
  }

  #draw() {
    const { ranks } = this.profile;
    const all = this.#sorted(ranks.rows.map((row) => this.#row(row)));
    this.rows = this.state.isFolded && !onPaper() ? all.filter((row) => this.#isLarge(row, all)) : all;
    this.#foldWords(all.length - this.rows.length);
    this.alike = new Map();
    for (const { callpath } of this.rows) this.alike.set(callpath.text, (this.alike.get(callpath.text) ?? 0) + 1);
    const order = this.#order();
    const greatest = Math.max(1, ...this.rows.map(({ max }) => max));
    const { scale } = this.state;
    const lost = this.#greatestLoss();
    const limit = this.#limit();
    const places = order && order.reduce((at, bin, place) => ((at[bin] = place), at), new Uint32Array(ranks.bins));
    this.grid.show({
      rows: this.rows.length,
      columns: ranks.bins,
      order,
      numbers: (row) => this.rows[row].numbers,
      isMean: this.state.isMean,
      color: {
        lost: (value, row) => lossColor(value - this.rows[row].mean, lost),
        relative: (value, row) => deviationColor(this.rows[row].mean > 0 ? (value / this.rows[row].mean - 1) / limit : 0),
        absolute: (value) => logColor(value, greatest),
      }[scale],
      rowText: (row) => this.#nameOf(this.rows[row].callpath),
      rightText: (row) => aboveMean(this.rows[row].above, this.rows[row].callpath.ranks),
      isSelected: (row) => this.rows[row].callpath.row === selection().callpath,
      selectedColumn: this.#selectedColumn(places),
      marks: (row) => {
        const bin = this.rows[row].maxBin;
        return bin === null ? null : places ? places[bin] : bin;
      },
      axis: (column) => this.#axisText((order ? order[column] : column) * ranks.ranks_per_bin),
    });
    this.#words(greatest, limit, lost);
  }

  #axisText(rank) {
    const host = this.state.order === "host" ? this.profile.host(rank) : "";
    return host === "" ? `rank ${rank}` : `${host}, rank ${rank}`;
  }

  #isLarge(row, all) {
    const total = this.profile.report.total_inclusive_ns;
    return row.sum >= SHARE_SHOWN * total || all.indexOf(row) < ROWS_SHOWN || row.callpath.row === selection().callpath;
  }

  #foldWords(folded) {
    this.foldButton.hidden = folded === 0 && this.state.isFolded;
    this.foldButton.textContent = folded > 0 ? `Show ${counted(folded, "more region")} below ${100 * SHARE_SHOWN} % of the time` : `Hide regions below ${100 * SHARE_SHOWN} % of the time`;
  }

  /** What of several ranks is shown is a question only where they share a pixel. */
  #pixels() {
    this.pixelChoice.hidden = !(this.grid.columnsPerPixel > 1) && !this.state.isMean;
  }

  /** Returns the greatest time by which a rank is above the mean of a region. */
  #greatestLoss() {
    return Math.max(1, ...this.rows.map(({ max, mean }) => max - mean));
  }

  #selectedColumn(places) {
    const { rank } = selection();
    if (rank === null) return null;
    const bin = Math.floor(rank / this.profile.ranks.ranks_per_bin);
    return places ? places[bin] : bin;
  }

  #limit() {
    const above = this.rows.map(({ above }) => above ?? 0).sort((a, b) => a - b);
    const usual = above[Math.floor(above.length / 2)] ?? 0;
    return LIMITS.find((limit) => limit >= usual) ?? LIMITS[LIMITS.length - 1];
  }

  #row(row) {
    const callpath = this.profile.callpaths[row.callpath];
    const numbers = this.profile.numbers(this.profile.times(row, this.state.kind));
    const spread = this.state.kind === "exclusive" ? callpath.exclusive_ns : callpath.inclusive_ns;
    // If ranks are equal in the page's resolution, the report still knows the slowest.
    const maxBin = spread ? Math.floor(spread.max_rank / this.profile.ranks.ranks_per_bin) : null;
    const { sum = 0, mean = 0, max = 0, imbalance: above = null } = spread ?? {};
    return { source: row, callpath, numbers, sum, mean, max, maxBin, above };
  }

  /** Returns the name of a callpath, with its caller where others have the same name. */
  #nameOf({ row, text }) {
    return this.alike.get(text) > 1 ? this.profile.path(row, 2).replace(/^… › /, "") : text;
  }

  #sorted(rows) {
    const by = {
      time: (a, b) => b.sum - a.sum,
      imbalance: (a, b) => (b.above ?? -1) - (a.above ?? -1),
      name: (a, b) => (a.callpath.text < b.callpath.text ? -1 : 1),
      tree: (a, b) => a.callpath.row - b.callpath.row,
    };
    return rows.sort(by[this.state.sort]);
  }

  #order() {
    if (this.state.order === "host") return byHost(this.profile);
    const row = this.rows.find(({ callpath }) => callpath.row === selection().callpath);
    if (this.state.order !== "selected" || !row) return null;
    const value = (bin) => (row.numbers[bin] === row.numbers[bin] ? row.numbers[bin] : -1);
    return Uint32Array.from(row.numbers.keys()).sort((a, b) => value(b) - value(a) || (b === row.maxBin) - (a === row.maxBin));
  }

  #words(greatest, limit, lost) {
    const { rows, ranks_per_bin } = this.profile.ranks;
    const all = this.profile.callpaths.length;
    this.#pixels();
    const parts = ["Each row is a region, each column a rank; the ring is the slowest rank, the number how far it is above the mean."];
    if (ranks_per_bin > 1) parts.push(`${ranks_per_bin} neighbouring ranks share a column, which shows their mean.`);
    if (this.grid.columnsPerPixel > 1) parts.push(`Where ranks share a pixel ${this.state.isMean ? "their mean" : "the slowest of them"} shows: zoom in for each.`);
    if (rows.length < all) parts.push(`The ${count(rows.length)} costliest of ${count(all)} callpaths are shown.`);
    if (this.state.order === "selected" && selection().callpath === null) parts.push("Select a region to sort the ranks by it.");
    this.note.textContent = parts.join(" ");
    const relative = [-1, -0.5, 0, 0.5, 1].map((t) => [t === 0 ? "mean" : `${deviation(t * limit)}${t === 1 ? " and more" : ""}`, deviationColor(t)]);
    const absolute = [4, 3, 2, 1, 0].map((down) => [time(greatest / 10 ** down), amountColor(1 - down / DECADES)]);
    const hasGaps = this.rows.some(({ numbers }) => numbers.some((ns) => ns !== ns));
    const losses = [-1, -0.25, 0, 0.25, 1].map((t) => [t === 0 ? "mean" : `${t < 0 ? "−" : "+"}${time(Math.abs(t) * lost)}`, lossColor(t * lost, lost)]);
    const stops = { lost: losses, relative, absolute }[this.state.scale];
    this.legendBox.replaceChildren(legend("Colour:", hasGaps ? [...stops, NEVER] : stops));
  }

  #lines(row, bin) {
    const { ranks_per_bin } = this.profile.ranks;
    const value = ranks_per_bin === 1 && bin === row.maxBin ? row.max : row.numbers[bin];
    const visits = this.profile.numbers(row.source.visits)[bin];
    if (value !== value) return [row.callpath.text, this.profile.binText(bin, ranks_per_bin), "never runs it"];
    return [
      row.callpath.text,
      this.profile.binText(bin, ranks_per_bin),
      `${time(value)}${this.state.kind === "exclusive" ? " exclusive" : " inclusive"}, ${counted(Math.round(visits), "visit")}`,
      row.mean > 0 ? `${deviation(value / row.mean - 1)} against the mean of ${time(row.mean)}` : null,
    ];
  }
}

/** Returns whether ranks of the page are single, and on several hosts. */
function isOnHosts({ hosts, ranks }) {
  return hosts.length > 1 && ranks.ranks_per_bin === 1;
}

/** Returns the ranks in the order of their hosts. */
function byHost({ host_of_rank: hosts }) {
  return Uint32Array.from(hosts.keys()).sort((a, b) => hosts[a] - hosts[b] || a - b);
}
