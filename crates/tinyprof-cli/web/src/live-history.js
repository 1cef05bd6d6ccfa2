// The last ten minutes of a running job: what its ranks did, and its efficiency.

import { element } from "./elements.js";
import { percent, time } from "./numbers.js";
import { font, letterHeight } from "./canvas.js";
import { axes, Chart } from "./lines.js";
import { token } from "./theme.js";

/** The activities, from the axis upwards, with their colours. */
const BANDS = [
  ["computation", "computing", "--comp"],
  ["io", "input and output", "--io"],
  ["communication", "in MPI", "--comm"],
];

export class LiveHistory {
  constructor() {
    this.points = [];
    this.marks = [];
    this.chart = new Chart("What ranks did over time", (at) => this.#words(at));
    const swatch = ([, words, color]) => {
      const mark = element("i", { "aria-hidden": "true" });
      mark.style.background = `var(${color})`;
      return element("span", {}, mark, words);
    };
    const line = element("i", { "aria-hidden": "true" });
    line.style.background = "var(--accent)";
    const legend = element("div", { className: "legend" }, ...BANDS.map(swatch), element("span", {}, line, "parallel efficiency since the start"));
    this.note = element("p", { className: "note" });
    this.box = element("div", {}, legend, this.chart.box, this.note);
  }

  /** Takes all points of the last minutes. */
  reset(points) {
    this.points = points;
    this.draw();
  }

  /** Takes one more. */
  add(point) {
    if (this.points.at(-1)?.elapsed_ns === point.elapsed_ns) return;
    this.points = [...this.points, point].slice(-600);
    this.draw();
  }

  /** Takes the moments at which something was done. */
  mark(marks) {
    this.marks = marks;
  }

  draw() {
    const known = this.points.filter(({ activity, elapsed_ns: elapsed }) => activity !== null && elapsed !== null);
    this.known = known;
    this.chart.box.hidden = known.length < 2;
    this.note.textContent =
      known.length < 2 ? unknownWords(this.points) : `The last ${time(known.at(-1).elapsed_ns - known[0].elapsed_ns)}, by the time since the start of the run.`;
    if (known.length >= 2) this.chart.show(() => historyPlot(known, this.marks));
  }

  #words(at) {
    const point = this.known[at];
    if (!point) return [];
    const parts = BANDS.map(([key, words]) => `${percent(point.activity[key])} ${words}`);
    return [`${time(point.elapsed_ns)} after the start`, ...parts, point.efficiency !== null && `${percent(point.efficiency)} parallel efficiency so far`];
  }
}

function unknownWords(points) {
  const isKnown = points.length < 3 || points.some(({ activity }) => activity !== null);
  return isKnown ? "Drawn from the third look on." : "Not known: no region is tagged COMM or IO.";
}

/** Returns uPlot's options and data: areas one above the other, a line, and marks. */
function historyPlot(points, marks) {
  const sums = BANDS.map((_, at) => points.map((point) => BANDS.slice(0, at + 1).reduce((sum, [own]) => sum + point.activity[own], 0)));
  const area = (at) => ({ stroke: token(BANDS[at][2]), fill: token(BANDS[at][2]), width: 1, points: { show: false } });
  const order = BANDS.map((_, at) => at).reverse();
  return {
    data: [points.map((point) => point.elapsed_ns), ...order.map((at) => sums[at]), points.map((point) => point.efficiency)],
    options: {
      // The last number of the axis is as wide as that beyond the plot.
      padding: [8, 2 * letterHeight(), 0, 0],
      scales: { x: { time: false }, y: { range: [0, 1] } },
      axes: axes("time since the start", (ns) => time(ns), percent),
      series: [{}, ...order.map(area), { stroke: token("--accent"), width: 2, points: { show: false } }],
      hooks: { draw: [(chart) => drawMarks(chart, marks)] },
    },
  };
}

/** Draws a line at each moment at which something was done, with its name where there is room. */
function drawMarks(chart, marks) {
  const { ctx, bbox } = chart;
  const scale = devicePixelRatio || 1;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = token("--ink");
  ctx.setLineDash([3 * scale, 3 * scale]);
  ctx.font = font(scale);
  ctx.textBaseline = "top";
  ctx.textAlign = "left";
  let free = -Infinity;
  for (const { elapsed_ns: elapsed, what } of marks) {
    const x = chart.valToPos(elapsed ?? NaN, "x", true);
    if (!(x >= bbox.left && x <= bbox.left + bbox.width)) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    if (x < free) continue;
    ctx.fillText(what, x + 4 * scale, bbox.top + 2 * scale);
    free = x + ctx.measureText(what).width + 12 * scale;
  }
  ctx.restore();
}
