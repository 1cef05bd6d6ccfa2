// A line with a band, drawn by uPlot, with a cursor for pointer and keys.

import { font, letterHeight, onWidth } from "./canvas.js";
import { hush, say, tell } from "./tooltip.js";
import { time } from "./numbers.js";
import { token } from "./theme.js";

/** The height of a chart in CSS pixels, greater on tall screens. */
function chartHeight() {
  return Math.max(240, Math.round(innerHeight * 0.24));
}

/** The room of the vertical axis, in CSS pixels: a map below a chart begins there, too. */
export const chartLeft = () => 7 * letterHeight();

/**
 * Returns the axes of all charts here. `label` is the title of the horizontal axis, `x` formats a
 * position on it, `amount` a value.
 */
export function axes(label, x, amount = time) {
  const common = { stroke: token("--muted"), font: font(), grid: { stroke: token("--rule"), width: 1 }, ticks: { show: false } };
  return [
    { ...common, label, space: 5 * letterHeight(), size: letterHeight() + 14, labelFont: font(), labelSize: letterHeight() + 6, grid: { show: false }, values: (_, places) => places.map(x) },
    { ...common, size: chartLeft(), values: (_, places) => places.map((value) => (value === 0 ? "0" : amount(value))) },
  ];
}

/** A chart that is redrawn when its data, the theme or its width change. */
export class Chart {
  constructor(label, tellAt, pick) {
    this.tellAt = tellAt;
    this.pick = pick;
    this.box = document.createElement("div");
    this.box.className = "chart";
    this.box.tabIndex = 0;
    this.box.setAttribute("role", "img");
    this.box.setAttribute("aria-label", `${label}. Arrow keys move the cursor.`);
    this.box.addEventListener("keydown", (event) => this.#key(event));
    this.box.addEventListener("pointerleave", hush);
    this.box.addEventListener("blur", hush);
    onWidth(this.box, () => this.drawnWidth, () => this.draw());
  }

  /** Sets `make()`, which returns uPlot's options and data, and draws. */
  show(make) {
    this.make = make;
    this.draw();
  }

  draw() {
    if (!this.make || this.box.clientWidth === 0) return;
    this.drawnWidth = this.box.clientWidth;
    this.chart?.destroy();
    const { options, data } = this.make();
    const setCursor = (chart) => this.#moved(chart);
    this.chart = new uPlot(
      {
        width: this.box.clientWidth,
        height: chartHeight(),
        padding: [8, 0, 0, 0],
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false } },
        ...options,
        hooks: { ...options.hooks, setCursor: [setCursor] },
      },
      data,
      this.box,
    );
    this.chart.over.addEventListener("click", () => this.pick?.(this.chart.cursor.idx));
  }

  #moved(chart) {
    const { idx, left, top } = chart.cursor;
    if (idx === null || idx === undefined || left < 0) return;
    const box = chart.over.getBoundingClientRect();
    tell(this.tellAt(idx), box.left + left, box.top + Math.max(0, top));
  }

  #key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!this.chart || !step) return;
    event.preventDefault();
    const places = this.chart.data[0];
    const at = Math.max(0, Math.min(places.length - 1, (this.at ?? (step > 0 ? -1 : places.length)) + step));
    this.at = at;
    this.chart.setCursor({ left: this.chart.valToPos(places[at], "x"), top: 10 });
    const box = this.chart.over.getBoundingClientRect();
    tell(this.tellAt(at), box.left + this.chart.valToPos(places[at], "x"), box.top + 10);
    say(this.tellAt(at));
  }
}
