// Iterations: how a region's time changes from visit to visit, and on which ranks. The line and the
// map below it share their columns.

import { Chart, chartLeft } from "./lines.js";
import { Grid, NEVER, legend } from "./grid.js";
import { amountColor } from "./colors.js";
import { element, picker, rankField } from "./elements.js";
import { count, counted, number, time } from "./numbers.js";
import { shown } from "./names.js";
import { onSelection, select, selection } from "./selection.js";
import { withoutSeries } from "./loops.js";
import { seriesPlot } from "./series-plot.js";
import { slowestTable } from "./slowest.js";
import { timed } from "./canvas.js";
import { token } from "./theme.js";

/** The least height of the map in CSS pixels, and that of the only rank of a run. */
const MAP_HEIGHT = 260;
const ROW_HEIGHT = 40;

export class IterationsView {
  constructor(profile) {
    this.profile = profile;
    this.panel = element("div");
    if (profile.iterations.length === 0) {
      this.panel.append(...withoutSeries(profile));
      return;
    }
    this.isOneRank = profile.report.ranks === 1;
    this.order = {};
    /** The key of the metric to show where a callpath has it; null for time. */
    this.metric = null;
    this.note = element("p", { className: "note" });
    this.pickerBox = element("span");
    this.metricBox = element("span");
    this.lineLegend = element("div");
    this.legendBox = element("div");
    this.slowestBox = element("div", { className: "scroll" });
    this.chart = new Chart("Time of a visit by iteration", (at) => this.#lineWords(at));
    this.grid = new Grid({
      label: "Heat map of iterations and ranks",
      left: chartLeft(),
      height: () => (this.isOneRank ? ROW_HEIGHT : Math.max(MAP_HEIGHT, Math.round(innerHeight * 0.3))),
      tell: (bin, point) => this.#cellWords(bin, point),
      pick: (bin) => this.#pick(bin),
      onRange: () => this.#showLine(),
    });
    const controls = element(
      "div",
      { className: "controls" },
      this.pickerBox,
      this.metricBox,
      ...(this.isOneRank ? [] : [rankField(profile)]),
      element("button", { type: "button", textContent: "Zoom in", onclick: () => this.grid.zoom(0.5) }),
      element("button", { type: "button", textContent: "Zoom out", onclick: () => this.grid.zoom(2) }),
    );
    this.panel.append(controls, this.note, this.lineLegend, this.chart.box, this.legendBox, this.grid.box, this.slowestBox);
    onSelection(() => this.panel.isConnected && this.draw());
  }

  draw() {
    if (this.chart) timed("draw iterations", () => this.#draw());
  }

  #draw() {
    const { profile } = this;
    const { callpath } = selection();
    const wanted = profile.iterationsOf.get(callpath);
    // A single visit has nothing to compare.
    this.series = wanted ?? profile.iterations.find(({ visits }) => visits > 1) ?? profile.iterations[0];
    const options = profile.iterations.map((series) => [String(series.callpath), profile.path(series.callpath, 3)]);
    const choose = (row) => select({ callpath: Number(row) });
    this.pickerBox.replaceChildren(picker("Region", options, String(this.series.callpath), choose));
    this.#chooseMetric();
    const numbers = (column) => profile.numbers(column);
    const { min, mean, max, max_rank, map } = this.series;
    this.lines = { min: numbers(min), mean: numbers(mean), max: numbers(max), rank: numbers(max_rank) };
    this.map = numbers(map);
    this.own = this.#ownLine();
    this.#words(callpath !== null && !wanted);
    this.#showMap(map);
    this.#showLine();
    this.slowestBox.replaceChildren(slowestTable(profile, this.series, this.order, this.amount, (visit) => this.#goTo(visit)));
  }

  /** Shows the picker of metrics if the callpath has any, and the series of the chosen one. */
  #chooseMetric() {
    const times = this.series;
    const chosen = times.metrics.findIndex(({ key }) => key === this.metric);
    const options = [["-1", "Time"], ...times.metrics.map(({ key }, at) => [String(at), shown(key)])];
    const choose = (at) => {
      this.metric = times.metrics[Number(at)]?.key ?? null;
      this.draw();
    };
    this.metricBox.hidden = options.length === 1;
    this.metricBox.replaceChildren(picker("Metric", options, String(chosen), choose));
    this.amount = chosen < 0 ? time : number;
    [this.least, this.most] = chosen < 0 ? ["fastest", "slowest"] : ["least", "greatest"];
    if (chosen >= 0) this.series = { ...times.metrics[chosen], callpath: times.callpath };
  }

  /** Returns the line of the selected rank, or of the slowest of those that share its row. */
  #ownLine() {
    const { rank } = selection();
    if (rank === null) return null;
    const { lines, ranks_per_bin } = this.series;
    const exact = lines.find((line) => line.rank === rank);
    if (exact) return { text: `rank ${rank}`, numbers: this.profile.numbers(exact.values) };
    const bin = Math.floor(rank / ranks_per_bin);
    return { text: this.#rowWords(bin), numbers: this.#row(bin) };
  }

  #row(bin) {
    const points = this.lines.mean.length;
    return this.map.subarray(bin * points, (bin + 1) * points);
  }

  #rowWords(bin) {
    const { ranks_per_bin } = this.series;
    if (ranks_per_bin === 1) return `rank ${bin}`;
    const last = Math.min((bin + 1) * ranks_per_bin, this.profile.host_of_rank.length) - 1;
    return `${this.most} of ranks ${bin * ranks_per_bin} to ${last}`;
  }

  /** A row of several ranks stands for the slowest of them that the page knows by number. */
  #pick(bin) {
    const { ranks_per_bin, lines } = this.series;
    const known = ranks_per_bin === 1 ? bin : lines.map(({ rank }) => rank).find((rank) => Math.floor(rank / ranks_per_bin) === bin);
    select({ rank: known ?? bin * ranks_per_bin });
  }

  #words(isOther) {
    const { visits, visits_per_point, folded, ranks_per_bin } = this.series;
    const parts = [`${counted(visits, "visit")}.`];
    if (!this.isOneRank) parts.push("Below: each row is a rank.");
    if (folded > 1) parts.push(`The series was folded while it was recorded: ${folded} neighbouring visits are one value.`);
    if (visits_per_point > 1) parts.push(`Each place stands for ${count(visits_per_point)} visits and shows their mean.`);
    if (ranks_per_bin > 1) parts.push(`Each row stands for ${ranks_per_bin} neighbouring ranks and shows the ${this.most}.`);
    if (isOther) parts.unshift("The selected region has no series; this is the costliest that has one.");
    this.note.textContent = parts.join(" ");
  }

  #first(point) {
    return point * this.series.visits_per_point;
  }

  /** Shows the iterations around a visit. */
  #goTo(visit) {
    const point = Math.floor(visit / this.series.visits_per_point);
    const [first, end] = this.grid.range;
    this.grid.zoom(Math.min(1, 32 / (end - first)), point);
    this.chart.box.scrollIntoView({ block: "nearest" });
  }

  #showLine() {
    this.chart.show(() => seriesPlot(this.lines, this.own, this.series, this.grid.range, (point) => count(this.#first(point)), this.amount));
    const stops = [[this.isOneRank ? "rank 0" : "mean over ranks", token("--accent")]];
    if (!this.isOneRank) stops.push([`${this.least} to ${this.most} rank`, token("--band-line")]);
    if (this.own && !this.isOneRank) stops.push([this.own.text, token("--own")]);
    this.lineLegend.replaceChildren(legend("Lines:", stops));
  }

  #showMap({ min, max }) {
    const { bins, ranks_per_bin } = this.series;
    const spread = max - min || 1;
    const stops = [0, 0.25, 0.5, 0.75, 1].map((t) => [this.amount(min + t * spread), amountColor(t)]);
    this.legendBox.replaceChildren(legend("Colour:", this.map.some((ns) => ns !== ns) ? [...stops, NEVER] : stops));
    this.grid.show({
      rows: bins,
      columns: this.lines.mean.length,
      order: null,
      numbers: (row) => this.#row(row),
      color: (value) => amountColor((value - min) / spread),
      rowText: (row) => `rank ${row * ranks_per_bin}`,
      isSelected: (row) => selection().rank !== null && Math.floor(selection().rank / ranks_per_bin) === row,
      axis: (column) => `iteration ${this.#first(column)}`,
    });
  }

  #place(point) {
    const { visits_per_point, visits } = this.series;
    if (visits_per_point === 1) return `iteration ${point}`;
    return `iterations ${this.#first(point)} to ${Math.min(visits, this.#first(point + 1)) - 1}`;
  }

  #lineWords(point) {
    const { min, mean, max, rank } = this.lines;
    const own = this.own && `${this.own.text}: ${this.own.numbers[point] === this.own.numbers[point] ? this.amount(this.own.numbers[point]) : "never runs it"}`;
    return [this.#place(point), `mean ${this.amount(mean[point])}`, `${this.amount(min[point])} to ${this.amount(max[point])}`, `${this.most}: ${this.profile.rankText(rank[point])}`, own];
  }

  #cellWords(bin, point) {
    const value = this.#row(bin)[point];
    const words = value === value ? `about ${this.amount(value)}` : "never runs it";
    return [this.#place(point), this.#rowWords(bin), words];
  }
}
