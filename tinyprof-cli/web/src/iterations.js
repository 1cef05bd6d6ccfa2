// Iterations: how a region's time changes from visit to visit, and on which ranks.

import { Chart, axes } from "./lines.js";
import { Grid, legend } from "./grid.js";
import { amountColor } from "./colors.js";
import { element, nothing, picker } from "./elements.js";
import { count, time } from "./numbers.js";
import { onSelection, select, selection } from "./selection.js";
import { timed } from "./canvas.js";
import { token } from "./theme.js";

const MAP_HEIGHT = 260;

export class IterationsView {
  key = "iterations";
  title = "Iterations";

  constructor(profile) {
    this.profile = profile;
    this.panel = element("div");
    if (profile.iterations.length === 0) {
      const words = "No region has a series. Loops keep one with profile_loop!(\"step\", mode = each, ...), functions with #[profile(mode = each)].";
      this.panel.append(nothing(words));
      return;
    }
    this.note = element("p", { className: "note" });
    this.pickerBox = element("div", { className: "controls" });
    this.legendBox = element("div");
    this.chart = new Chart("Time of a visit by iteration", (at) => this.#lineWords(at));
    this.grid = new Grid({
      label: "Heat map of iterations and ranks",
      left: 80,
      right: 8,
      height: MAP_HEIGHT,
      tell: (bin, point) => this.#cellWords(bin, point),
      pick: (bin) => this.series.ranks_per_bin === 1 && select({ rank: bin }),
    });
    this.panel.append(this.pickerBox, this.note, this.chart.box, this.legendBox, this.grid.box);
    onSelection(() => this.panel.isConnected && this.draw());
  }

  draw() {
    if (this.chart) timed("draw iterations", () => this.#draw());
  }

  #draw() {
    const { profile } = this;
    const { callpath } = selection();
    const wanted = profile.iterationsOf.get(callpath);
    this.series = wanted ?? profile.iterations[0];
    const isOther = callpath !== null && !wanted;
    const options = profile.iterations.map((series) => [String(series.callpath), profile.path(series.callpath, 3)]);
    const choose = (row) => select({ callpath: Number(row) });
    this.pickerBox.replaceChildren(picker("Region", options, String(this.series.callpath), choose));
    const numbers = (column) => profile.numbers(column);
    const { min_ns, mean_ns, max_ns, max_rank, map_ns } = this.series;
    this.lines = { min: numbers(min_ns), mean: numbers(mean_ns), max: numbers(max_ns), rank: numbers(max_rank) };
    this.map = numbers(map_ns);
    this.#words(isOther);
    this.chart.show(() => this.#plot());
    this.#showMap(map_ns);
  }

  #words(isOther) {
    const { visits, visits_per_point, folded, ranks_per_bin } = this.series;
    const parts = [`${count(visits)} visits. Line: mean over ranks. Band: fastest to slowest rank. Below: each row is a rank.`];
    if (folded > 1) parts.push(`The series was folded while it was recorded: ${folded} neighbouring visits are one value.`);
    if (visits_per_point > 1) parts.push(`Each place stands for ${count(visits_per_point)} visits and shows their mean.`);
    if (ranks_per_bin > 1) parts.push(`Each row stands for ${ranks_per_bin} neighbouring ranks and shows their mean.`);
    if (isOther) parts.unshift("The selected region has no series; this is the costliest that has one.");
    this.note.textContent = parts.join(" ");
  }

  #first(point) {
    return point * this.series.visits_per_point;
  }

  #plot() {
    const { min, mean, max } = this.lines;
    const line = (color, width, dash) => ({ stroke: color, width, dash, points: { show: mean.length < 3 } });
    const accent = token("--accent");
    return {
      data: [Array.from(mean, (_, at) => at), min, max, mean].map((column) => Array.from(column, (n) => (n === n ? n : null))),
      options: {
        scales: { x: { time: false }, y: { range: (_, low, high) => [0, high > 0 ? high * 1.05 : 1] } },
        axes: axes("iteration", (point) => (Number.isInteger(point) ? count(this.#first(point)) : "")),
        series: [{}, line(token("--band-line"), 1, [2, 3]), line(token("--band-line"), 1, [6, 3]), line(accent, 2)],
        bands: [{ series: [2, 1], fill: token("--band") }],
        hooks: { draw: [(chart) => this.#drawStarts(chart)] },
      },
    };
  }

  /** Draws a line at the start of each execution. */
  #drawStarts(chart) {
    const { ctx, bbox } = chart;
    ctx.save();
    ctx.strokeStyle = token("--muted");
    ctx.setLineDash([3, 3]);
    for (const start of this.series.execution_starts) {
      const x = chart.valToPos(start - 0.5, "x", true);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }

  #showMap({ min, max }) {
    const { bins, ranks_per_bin } = this.series;
    const points = this.lines.mean.length;
    const rows = Array.from({ length: bins }, (_, bin) => this.map.subarray(bin * points, (bin + 1) * points));
    const spread = max - min || 1;
    this.legendBox.replaceChildren(
      legend("Colour:", [0, 0.25, 0.5, 0.75, 1].map((t) => [time(min + t * spread), amountColor(t)])),
    );
    this.grid.show({
      rows: bins,
      columns: points,
      order: null,
      numbers: (row) => rows[row],
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

  #lineWords(at) {
    const { min, mean, max, rank } = this.lines;
    return [this.#place(at), `mean ${time(mean[at])}`, `${time(min[at])} to ${time(max[at])}`, `slowest: ${this.profile.rankText(rank[at])}`];
  }

  #cellWords(bin, point) {
    const value = this.map[bin * this.lines.mean.length + point];
    const words = value === value ? `about ${time(value)}` : "never came here";
    return [this.#place(point), this.profile.binText(bin, this.series.ranks_per_bin), words];
  }
}
