// Structure: the phases of the program, the classes of ranks in them, and their messages.

import { choice, callpathButton, element, numberCell, timeCell } from "./elements.js";
import { onWidth, prepared, timed } from "./canvas.js";
import { chainOf, findingsWithChain } from "./chain.js";
import { drawLanes, placed, ways } from "./lanes.js";
import { count, counted, data, time } from "./numbers.js";
import { hush, say, tell } from "./tooltip.js";
import { onSelection, select, selection } from "./selection.js";
import { shown } from "./names.js";

const LABEL = "Phases from left to right, a lane for each class of ranks, its computing and its calls as wide as their time; the table of classes follows. Arrow keys move the cursor, Enter selects a callpath.";
/** The most messages that the description of a call tells. */
const TOLD_MAX = 4;
const NEAR_PIXELS = 5;
/** The most findings to choose from: those of the summary. */
const FINDINGS_MAX = 5;

export class StructureView {
  constructor(profile) {
    this.profile = profile;
    this.found = profile.structure;
    this.state = { measure: "bytes", cursor: null };
    this.canvas = element("canvas", { tabIndex: 0, role: "img", "aria-label": LABEL });
    this.box = element("div", { className: "grid lanes" }, this.canvas);
    this.note = element("p", { className: "note" });
    this.tableBox = element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Classes of ranks by phase" });
    const hasWaiting = this.found.messages.some((message) => message.waiting_ns > 0);
    const measures = [["bytes", "bytes"], ...(hasWaiting ? [["waiting_ns", "waiting"]] : [])];
    this.findings = findingsWithChain(profile.why);
    this.state.finding = this.findings[0] ?? null;
    const byMeasure = choice("Messages by", measures, "bytes", (measure) => this.#set({ measure }));
    const controls = element("div", { className: "controls" }, byMeasure, ...this.#findingChoice());
    this.panel = element("div", {}, controls, this.note, this.box, element("h2", { className: "part", textContent: "Classes" }), this.tableBox);
    this.#listen();
    onWidth(this.box, () => this.drawnWidth, () => this.#drawCanvas());
    onSelection(() => this.panel.isConnected && this.draw());
  }

  #findingChoice() {
    if (this.findings.length === 0) return [];
    const choices = [...this.findings.slice(0, FINDINGS_MAX).map(({ number }) => [number, String(number)]), [0, "none"]];
    return [choice("Cause", choices, this.state.finding.number, (wanted) => this.#set({ finding: this.findings.find(({ number }) => number === wanted) ?? null }))];
  }

  #set(change) {
    Object.assign(this.state, change);
    this.draw();
  }

  draw() {
    timed("draw structure", () => {
      this.#drawCanvas();
      this.note.textContent = this.#noteText();
      this.tableBox.replaceChildren(this.#table());
    });
  }

  #drawCanvas() {
    if (this.box.clientWidth === 0) return;
    this.drawnWidth = this.box.clientWidth;
    this.layout = placed(this.found, this.box.clientWidth);
    this.ways = ways(this.found, this.layout, this.state.measure);
    const context = prepared(this.canvas, this.layout.width, this.layout.height);
    const chosen = this.state.cursor === null ? null : this.layout.nodes[this.state.cursor];
    const isSelected = (call) => call.callpath !== null && call.callpath === selection().callpath;
    const chain = chainOf(this.state.finding, this.found, this.layout);
    drawLanes(context, this.found, this.layout, this.ways, { measure: this.state.measure, chosen, isSelected, chain });
  }

  #noteText() {
    const { lanes, phases, ranks_omitted } = this.found;
    const words = [`${counted(phases.length, "phase")}, ${counted(lanes.length, "lane")}: ranks share one if they do the same in every phase. Computing comes before the calls, added up; all is in one scale. The lower edge of a call is its waiting. Lines are messages, as thick as their ${this.state.measure === "bytes" ? "bytes" : "waiting"}.`];
    if (ranks_omitted > 0) words.push(`${counted(ranks_omitted, "rank")} in further classes are not drawn.`);
    if (this.state.finding) words.push(`Framed: cause ${this.state.finding.number} of the summary; dashed: the calls in which others wait for it. ${this.state.finding.line}`);
    return words.join(" ");
  }

  /** Returns the lines about a call. */
  #lines({ call, of, phase, lane }) {
    const each = of.size > 1 ? " per rank" : "";
    const lines = [
      `${shown(call.function)}, ${ranksWords(this.found.lanes[lane])}`,
      `phase ${phase.number} ${shown(phase.name)}`,
      `${callsWords(call.calls)}${each}, ${time(Math.round(call.ns))}, of which ${time(Math.round(call.waiting_ns))} waiting`,
    ];
    if (call.bytes_out > 0) lines.push(`${data(Math.round(call.bytes_out))} out${each}`);
    if (call.bytes_in > 0) lines.push(`${data(Math.round(call.bytes_in))} in${each}`);
    if (call.partners !== "-") lines.push(`partners ${call.partners}`);
    if (call.callpath !== null) lines.push(this.profile.path(call.callpath), this.#source(call.callpath));
    const incoming = this.found.messages.filter((one) => one.to === lane && one.to_node === call.node);
    incoming.sort((a, b) => b[this.state.measure] - a[this.state.measure]);
    return [...lines, ...incoming.slice(0, TOLD_MAX).map((one) => this.#incoming(one))];
  }

  #source(row) {
    const { site } = this.profile.callpaths[row];
    return site.file ? `${shown(site.file)}:${site.line}` : null;
  }

  #incoming(message) {
    return `from ${ranksWords(this.found.lanes[message.from])}: ${this.#amounts(message).join(", ")}`;
  }

  #amounts({ kind, count: times, bytes, waiting_ns }) {
    const what = kind.startsWith("message") ? [counted(times, "message"), data(bytes)] : [kind.replace(/_/g, " "), counted(times, "time")];
    return [...what, `${time(waiting_ns)} waiting`];
  }

  #wayLines({ message, from, to }) {
    const end = ({ call, lane }) => `${shown(call.function)} of ${ranksWords(this.found.lanes[lane])}`;
    return [`from ${end(from)}`, `to ${end(to)}`, ...this.#amounts(message)];
  }

  #at(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const isIn = (node) => x >= node.x && x <= node.x + node.width && y >= node.y && y <= node.y + node.height;
    const node = this.layout.nodes.find(isIn);
    if (node) return { node };
    const far = ({ points }) => Math.min(...points.map(([px, py]) => Math.hypot(px - x, py - y)));
    const near = this.ways.map((way) => [far(way), way]).sort((a, b) => a[0] - b[0])[0];
    return near && near[0] <= NEAR_PIXELS ? { way: near[1] } : {};
  }

  #listen() {
    this.canvas.addEventListener("pointermove", (event) => {
      const { node, way } = this.#at(event);
      if (node) tell(this.#lines(node), event.clientX, event.clientY);
      else if (way) tell(this.#wayLines(way), event.clientX, event.clientY);
      else hush();
    });
    this.canvas.addEventListener("pointerleave", hush);
    this.canvas.addEventListener("click", (event) => {
      const { node } = this.#at(event);
      if (node && node.call.callpath !== null) select({ callpath: node.call.callpath });
    });
    this.canvas.addEventListener("keydown", (event) => this.#key(event));
    this.canvas.addEventListener("blur", () => {
      this.state.cursor = null;
      hush();
      this.#drawCanvas();
    });
  }

  #key(event) {
    const { nodes } = this.layout;
    if (nodes.length === 0) return;
    const at = this.state.cursor;
    const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: "up", ArrowDown: "down", Home: -Infinity, End: Infinity };
    const move = moves[event.key];
    if (event.key === "Enter" && at !== null && nodes[at].call.callpath !== null) select({ callpath: nodes[at].call.callpath });
    else if (move === undefined) return;
    else if (at === null) this.state.cursor = 0;
    else if (typeof move === "string") this.state.cursor = this.#beside(at, move === "up" ? -1 : 1);
    else this.state.cursor = Math.max(0, Math.min(nodes.length - 1, at + move));
    event.preventDefault();
    this.#drawCanvas();
    if (this.state.cursor === null) return;
    const node = nodes[this.state.cursor];
    const box = this.canvas.getBoundingClientRect();
    const lines = this.#lines(node);
    tell(lines, box.left + node.x, box.top + node.y + node.height);
    say(lines);
  }

  /** Returns the nearest node of the next lane that has one. */
  #beside(at, step) {
    const { nodes } = this.layout;
    const own = nodes[at];
    const lanes = nodes.map(({ lane }) => lane).filter((lane) => (lane - own.lane) * step > 0);
    if (lanes.length === 0) return at;
    const lane = step > 0 ? Math.min(...lanes) : Math.max(...lanes);
    const far = (node) => (node.lane === lane ? Math.abs(node.x + node.width / 2 - own.x - own.width / 2) : Infinity);
    return nodes.reduce((best, node, other) => (far(node) < far(nodes[best]) ? other : best), nodes.findIndex((node) => node.lane === lane));
  }

  #table() {
    const titles = ["Phase", "Ranks", "Computing", "In calls", "Waiting", "Longest call"];
    const rows = this.found.phases.flatMap((phase) => phase.classes.map((one) => this.#row(phase, one)));
    const head = element("thead", {}, element("tr", {}, ...titles.map((textContent) => element("th", { scope: "col", textContent }))));
    return element("table", { className: "classes" }, element("caption", { textContent: "Times are means per rank." }), head, element("tbody", {}, ...rows));
  }

  #row(phase, one) {
    const waiting = one.calls.reduce((sum, call) => sum + call.waiting_ns, 0);
    const longest = one.calls.reduce((most, call) => (most === null || call.ns > most.ns ? call : most), null);
    const name = longest && `${shown(longest.function)}, ${time(Math.round(longest.ns))}`;
    const link = longest && (longest.callpath === null ? name : callpathButton(name, () => select({ callpath: longest.callpath })));
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, element("bdi", { textContent: `${phase.number} ${shown(phase.name)}` })),
      numberCell(`${one.ranks} (${count(one.size)})`, one.size),
      timeCell(Math.round(one.computing_ns)),
      timeCell(Math.round(one.in_calls_ns)),
      timeCell(Math.round(waiting)),
      element("td", {}, link ?? "–"),
    );
  }
}

function ranksWords({ ranks, size }) {
  return size === 1 ? `rank ${ranks}` : `ranks ${ranks}`;
}

/** Returns a mean number of calls in words. */
function callsWords(calls) {
  return Number.isInteger(calls) ? counted(calls, "call") : `${Math.round(calls * 10) / 10} calls`;
}
