// Executions: a region's times over executions and ranks, the slow executions, and the outliers.

import { Chart } from "./lines.js";
import { boxPlot } from "./boxes.js";
import { element, nothing, numberCell, picker, rankButton, timeCell } from "./elements.js";
import { count, counted, deviation, percent, time } from "./numbers.js";
import { onSelection, select, selection } from "./selection.js";
import { sortable } from "./table.js";

/** The part by which the median of a slow execution is above that of the usual one. */
const SLOW = 0.1;
const SLOW_NAMED = 3;
const FIVE = ["least", "lower quartile", "median", "upper quartile", "greatest"];

export class ExecutionsView {
  key = "executions";
  title = "Executions";

  constructor(profile) {
    this.profile = profile;
    this.panel = element("div");
    this.order = {};
    this.known = profile.executions.filter(({ boxes }) => boxes.length > 0);
    if (this.known.length === 0) {
      this.panel.append(nothing("No region was visited."));
      return;
    }
    this.note = element("p", { className: "note" });
    this.pickerBox = element("div", { className: "controls" });
    this.chart = new Chart("Spread of times over ranks, by execution", (at) => this.#boxWords(at));
    this.list = element("div", { className: "scroll" });
    this.slow = element("p", { className: "slow-executions" });
    this.panel.append(this.pickerBox, this.note, this.slow, this.chart.box, this.list);
    onSelection(() => this.panel.isConnected && this.draw());
  }

  draw() {
    if (!this.chart) return;
    const { profile } = this;
    const { callpath } = selection();
    const wanted = this.known.find((entry) => entry.callpath === callpath);
    this.entry = wanted ?? this.known[0];
    const options = this.known.map((entry) => [String(entry.callpath), profile.path(entry.callpath, 3)]);
    this.pickerBox.replaceChildren(picker("Region", options, String(this.entry.callpath), (row) => select({ callpath: Number(row) })));
    const per = this.entry.executions_per_box;
    this.dots = this.#dots();
    const parts = [
      this.dots
        ? "A dot is a rank, from left to right by number; the line is their median."
        : "A box is the middle half of all ranks, its line the median; rings lie more than 1.5 boxes away.",
    ];
    if (per > 1) parts.push(`Each box has ${per} neighbouring executions.`);
    if (callpath !== null && !wanted) parts.unshift("The selected region was never visited, or is not among the costliest; this is another.");
    this.note.textContent = parts.join(" ");
    this.chart.show(() => boxPlot(this.entry.boxes, (at) => this.#place(at), this.dots, selection().rank));
    this.slow.textContent = this.#slowWords();
    this.list.replaceChildren(this.#outliers());
  }

  /** Returns the times of the ranks in each execution; null if they are too many to be shown. */
  #dots() {
    const { dots_ns, boxes } = this.entry;
    if (!dots_ns) return null;
    const times = this.profile.numbers(dots_ns);
    const ranks = times.length / boxes.length;
    return boxes.map((_, at) => times.subarray(at * ranks, (at + 1) * ranks));
  }

  /** Names all executions whose median rank is slower than in the usual execution, the slowest with their times. */
  #slowWords() {
    const medians = this.entry.boxes.map((box, at) => ({ at, ns: box?.five[2] })).filter(({ ns }) => ns !== undefined);
    if (medians.length < 3) return "";
    const usual = [...medians].sort((a, b) => a.ns - b.ns)[Math.floor((medians.length - 1) / 2)].ns;
    const slow = medians.filter(({ ns }) => ns > usual * (1 + SLOW)).sort((a, b) => b.ns - a.ns);
    if (slow.length === 0) return `No execution is slower than the usual one by more than ${percent(SLOW)}.`;
    const named = slow.slice(0, SLOW_NAMED).map(({ at, ns }) => `execution ${this.#place(at)} (${time(ns)}, ${deviation(ns / usual - 1)})`);
    const others = slow.slice(SLOW_NAMED).sort((a, b) => a.at - b.at).map(({ at }) => this.#place(at));
    const more = others.length > 0 ? `, and ${count(others.length)} more: ${others.join(", ")}` : "";
    return `Slower than the usual ${time(usual)} on the median rank: ${named.join(", ")}${more}.`;
  }

  #place(at) {
    const per = this.entry.executions_per_box;
    return per === 1 ? String(at) : `${at * per}–${(at + 1) * per - 1}`;
  }

  #boxWords(at) {
    const box = this.entry.boxes[at];
    if (!box) return [`execution ${this.#place(at)}`, "never visited"];
    return [
      `execution ${this.#place(at)}`,
      `${counted(box.values, "value")}`,
      ...box.five.map((ns, i) => `${FIVE[i]} ${time(ns)}`).reverse(),
      ...(this.dots ? [...this.dots[at]].map((ns, rank) => (ns === ns ? `rank ${rank}: ${time(ns)}` : null)) : []),
      box.outlier_count > 0 ? counted(box.outlier_count, "outlier") : null,
    ];
  }

  #outliers() {
    const all = this.entry.boxes.filter(Boolean);
    const named = all.flatMap(({ outliers, five }) => outliers.map((outlier) => ({ outlier, median: five[2] })));
    const total = all.reduce((sum, box) => sum + box.outlier_count, 0);
    if (total === 0) return element("p", { className: "note" }, "No rank is an outlier.");
    named.sort((a, b) => Math.abs(b.outlier[0] - b.median) - Math.abs(a.outlier[0] - a.median));
    const shownRows = named.slice(0, 20).map(({ outlier: [ns, rank, execution], median }) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, rankButton(this.profile, rank)),
        numberCell(String(execution), execution),
        timeCell(ns),
        changeCell(ns, median),
      ),
    );
    const table = element("table", { className: "outliers" });
    const title = `${counted(total, "outlier")}${total > shownRows.length ? `, the ${count(shownRows.length)} farthest` : ""}`;
    table.append(
      element("caption", { textContent: title }),
      element("thead", {}, element("tr", {}, ...["Rank", "Execution", "Time", "Against the median"].map((textContent) => element("th", { scope: "col", textContent })))),
      element("tbody", {}, ...shownRows),
    );
    return sortable(table, this.order);
  }
}

/** Returns a cell with the deviation of a time from the usual one. */
function changeCell(ns, usual) {
  const part = usual > 0 ? ns / usual - 1 : null;
  return numberCell(deviation(part), part);
}
