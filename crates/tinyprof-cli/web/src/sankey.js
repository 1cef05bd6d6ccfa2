// Callers and what they call, as a Sankey diagram on a canvas.

import { font, onWidth, prepared, timed } from "./canvas.js";
import { callGraph, placeCallers } from "./callers.js";
import { activityOf } from "./colors.js";
import { widthOver } from "./frames.js";
import { fitted, shown } from "./names.js";
import { counted, percent, time } from "./numbers.js";
import { token } from "./theme.js";
import { hush, say, tell } from "./tooltip.js";

const SANKEY_HEIGHT = 420;
const BAR_WIDTH = 12;
const BAR_GAP = 3;
/** The narrowest column in which a name can be read. */
const COLUMN_MIN = 110;
const THINNEST_BAND = 0.3;
const SANKEY_LABEL = "Callers from left to right, with bands to what they call, as wide as its time. Arrow keys move between regions, Enter selects the costliest callpath.";

export class Sankey {
  /** `pick(row)`: called when a callpath is chosen. */
  constructor(profile, pick) {
    this.profile = profile;
    this.pick = pick;
    this.state = { over: "mean", rank: null, search: "", selected: null };
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", SANKEY_LABEL);
    this.box = document.createElement("div");
    this.box.className = "flame callers";
    this.box.append(this.canvas);
    this.cursor = null;
    this.graph = null;
    this.#listen();
    onWidth(this.box, () => this.drawnWidth, () => this.draw());
  }

  show(change) {
    const { over, rank } = this.state;
    Object.assign(this.state, change);
    const isOther = this.state.over !== over || (over === "rank" && this.state.rank !== rank);
    if (isOther) this.graph = null;
    this.draw();
  }

  draw() {
    if (this.box.clientWidth > 0) timed("draw callers", () => this.#draw());
  }

  #draw() {
    this.drawnWidth = this.box.clientWidth;
    this.graph ??= callGraph(this.profile.roots, widthOver(this.profile, this.state.over, this.state.rank));
    const { columns, bands } = this.graph;
    this.total = (columns[0] ?? []).reduce((sum, bar) => sum + bar.value, 0);
    const width = Math.max(this.drawnWidth, columns.length * COLUMN_MIN);
    const context = prepared(this.canvas, width, SANKEY_HEIGHT);
    if (columns.length === 0) return;
    placeCallers(this.graph, { width, height: SANKEY_HEIGHT }, BAR_GAP, this.total);
    context.font = font();
    context.textBaseline = "middle";
    for (const band of bands) this.#drawBand(context, band);
    for (const bar of columns.flat()) this.#drawBar(context, bar, width / columns.length);
  }

  #isFound({ name }) {
    return this.state.search === "" || (name ?? "").toLowerCase().includes(this.state.search);
  }

  #isChosen(bar) {
    return bar.key === this.cursor || bar.callpaths.some(({ row }) => row === this.state.selected);
  }

  #drawBand(context, { from, to, fromY, toY }) {
    if (fromY[1] - fromY[0] < THINNEST_BAND) return;
    const [left, right] = [from.x + BAR_WIDTH, to.x];
    const middle = (left + right) / 2;
    context.globalAlpha = this.#isChosen(from) || this.#isChosen(to) ? 0.55 : 0.25;
    context.fillStyle = activityOf(to.callpaths[0]).color;
    context.beginPath();
    context.moveTo(left, fromY[0]);
    context.bezierCurveTo(middle, fromY[0], middle, toY[0], right, toY[0]);
    context.lineTo(right, toY[1]);
    context.bezierCurveTo(middle, toY[1], middle, fromY[1], left, fromY[1]);
    context.fill();
    context.globalAlpha = 1;
  }

  #drawBar(context, bar, column) {
    const height = bar.y1 - bar.y0;
    if (height < THINNEST_BAND) return;
    context.globalAlpha = this.#isFound(bar) ? 1 : 0.25;
    context.fillStyle = activityOf(bar.callpaths[0]).color;
    context.fillRect(bar.x, bar.y0, BAR_WIDTH, Math.max(0.5, height));
    if (this.#isChosen(bar)) {
      context.strokeStyle = token("--ink");
      context.lineWidth = 2;
      context.strokeRect(bar.x + 1, bar.y0 + 1, BAR_WIDTH - 2, Math.max(1, height - 2));
    }
    if (height > 9) {
      context.fillStyle = token("--ink");
      context.fillText(fitted(context, barName(bar), column - BAR_WIDTH - 10), bar.x + BAR_WIDTH + 4, (bar.y0 + bar.y1) / 2);
    }
    context.globalAlpha = 1;
  }

  /** Returns the lines about a bar for the tooltip. */
  lines(bar) {
    const { bands } = this.graph;
    const own = bar.value - bands.filter(({ from }) => from === bar).reduce((sum, { value }) => sum + value, 0);
    const ends = (side, other, words) => {
      const all = bands.filter((band) => band[side] === bar).sort((a, b) => b.value - a.value);
      return all.slice(0, 3).map((band) => `${words} ${barName(band[other])}: ${percent(band.value / (bar.value || 1))}`);
    };
    const ranks = this.state.over === "mean" ? this.profile.report.ranks : 1;
    const words = { mean: "mean over all ranks", max: "slowest ranks", rank: `rank ${this.state.rank}` }[this.state.over];
    return [
      barName(bar),
      `${time(bar.value / ranks)} inclusive, ${time(Math.max(0, own) / ranks)} exclusive (${words})`,
      `${percent(bar.value / (this.total || 1))} of all time, ${counted(bar.callpaths.length, "callpath")}`,
      ...ends("to", "from", "called by"),
      ...ends("from", "to", "calls"),
    ];
  }

  #at(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const column = this.canvas.clientWidth / (this.graph?.columns.length || 1);
    const bars = this.graph?.columns[Math.floor(x / column)] ?? [];
    return bars.find((bar) => y >= bar.y0 && y < Math.max(bar.y1, bar.y0 + 1));
  }

  #listen() {
    this.canvas.addEventListener("pointermove", (event) => {
      const bar = this.#at(event);
      if (bar) tell(this.lines(bar), event.clientX, event.clientY);
      else hush();
    });
    this.canvas.addEventListener("pointerleave", hush);
    this.canvas.addEventListener("blur", hush);
    this.canvas.addEventListener("click", (event) => {
      const bar = this.#at(event);
      if (bar) this.#choose(bar);
    });
    this.canvas.addEventListener("keydown", (event) => this.#key(event));
  }

  #choose(bar) {
    this.cursor = bar.key;
    this.pick(bar.callpaths[0].row);
  }

  #key(event) {
    const bars = this.graph?.columns.flat() ?? [];
    const bar = bars.find(({ key }) => key === this.cursor);
    if (event.key === "Enter" && bar) this.#choose(bar);
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const to = bar ? this.#neighbour(bar, event.key) : bars[0];
    if (!to) return;
    this.cursor = to.key;
    this.draw();
    const lines = this.lines(to);
    say(lines);
    const box = this.canvas.getBoundingClientRect();
    tell(lines, box.left + to.x + BAR_WIDTH, box.top + to.y0);
  }

  #neighbour(bar, key) {
    const { bands, columns } = this.graph;
    const most = (side, other) => bands.filter((band) => band[side] === bar).sort((a, b) => b.value - a.value)[0]?.[other];
    if (key === "ArrowLeft") return most("to", "from");
    if (key === "ArrowRight") return most("from", "to");
    const column = columns[bar.depth];
    return column[column.indexOf(bar) + (key === "ArrowDown" ? 1 : -1)];
  }
}

function barName(bar) {
  return bar.name === null ? `${bar.regions} small regions` : shown(bar.name);
}
