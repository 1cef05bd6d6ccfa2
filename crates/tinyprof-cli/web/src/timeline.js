// The time line: a lane for each rank and thread, from the whole run to a single visit.

import { Palette, drawFrame, drawLeftOut, drawName, drawOverview, drawVisits } from "./timeline-draw.js";
import { afterSetUp, around, eachIn, innermostAt, lanesOf, leftOutIn, length, sumsIn } from "./timeline-lanes.js";
import { callpathButton, element, numberCell, shareCell, timeCell } from "./elements.js";
import { count, counted, percent, time } from "./numbers.js";
import { drawAxis, moment } from "./timeline-axis.js";
import { hush, say, tell } from "./tooltip.js";
import { legend } from "./grid.js";
import { onSelection, select, selection } from "./selection.js";
import { onWidth, prepared, timed } from "./canvas.js";
import { shown } from "./names.js";
import { token } from "./theme.js";

const HELP = "Time line. Left and right arrow go from visit to visit, up and down to other lanes, plus and minus zoom, Z shows the visit alone, page up and page down move, Escape shows the whole run, Enter selects.";
const AXIS = 26;
const ROW_OPEN = 17;
/** The least time across the whole width, in ns. */
const NARROWEST_NS = 20;
const SUMS_SHOWN = 12;
const DRAG_PIXELS = 5;

export class TimelineView {
  constructor(profile) {
    this.profile = profile;
    this.data = profile.timeline;
    this.lanes = lanesOf(profile);
    // The last visit ends at the edge.
    this.all = { from: this.data.from_ns, to: Math.max(this.data.to_ns, this.data.from_ns + NARROWEST_NS) };
    this.range = afterSetUp(profile, this.lanes) ?? this.all;
    this.cursor = null;
    this.drag = null;
    this.canvas = element("canvas", { tabIndex: 0, role: "img", "aria-label": HELP });
    this.box = element("div", { className: "grid timeline" }, this.canvas);
    this.note = element("p", { className: "note" });
    this.legendBox = element("div");
    this.tableBox = element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Callpaths in view" });
    this.panel = element("div", {}, this.#controls(), this.note, this.legendBox, this.box, element("h2", { className: "part", textContent: "In view" }), this.tableBox);
    this.#listen();
    onWidth(this.box, () => this.drawnWidth, () => this.#drawCanvas());
    onSelection(() => this.panel.isConnected && this.draw());
  }

  #controls() {
    const button = (textContent, label, onclick) => element("button", { type: "button", textContent, "aria-label": label, onclick });
    this.place = element("span", { className: "quiet-words", "data-place": "" });
    return element(
      "div",
      { className: "controls" },
      element("div", { className: "choice", role: "group", "aria-label": "Part of the run" },
        button("◂", "Earlier", () => this.#pan(-0.5)),
        button("−", "Longer", () => this.#zoom(2)),
        button("+", "Shorter", () => this.#zoom(0.5)),
        button("▸", "Later", () => this.#pan(0.5)),
        button("Whole run", "Whole run", () => this.#show(this.all))),
      this.place,
    );
  }

  draw() {
    timed("draw time line", () => {
      this.#drawCanvas();
      this.note.textContent = this.#noteText();
      this.place.textContent = this.#rangeWords();
      this.legendBox.replaceChildren(this.#legend());
      this.tableBox.replaceChildren(this.#table());
    });
  }

  /** Returns the places of lanes: those of the selected rank are open, and all if there is room. */
  #layOut() {
    const left = Math.min(110, this.box.clientWidth * 0.28);
    const width = Math.max(40, this.box.clientWidth - left - 2);
    const openHeight = (lane) => (lane.level_count + (lane.parts ? 1 : 0)) * ROW_OPEN;
    const room = Math.max(340, innerHeight * 0.55);
    const isRoom = this.lanes.reduce((sum, lane) => sum + openHeight(lane) + 8, 0) <= room;
    const closed = Math.round(Math.max(9, Math.min(26, room / this.lanes.length - 3)));
    let y = AXIS;
    const places = this.lanes.map((lane) => {
      const isOpen = isRoom || lane.rank === selection().rank;
      const height = isOpen ? openHeight(lane) : closed;
      const place = { lane, ...this.range, left, width, y, height, isOpen, row: ROW_OPEN };
      y += height + (isOpen ? 8 : 3);
      return place;
    });
    return { places, left, width, bottom: y };
  }

  #drawCanvas() {
    if (this.box.clientWidth === 0) return;
    this.drawnWidth = this.box.clientWidth;
    this.layout = this.#layOut();
    const { places, left, width, bottom } = this.layout;
    const context = prepared(this.canvas, this.box.clientWidth, bottom + 12);
    const palette = new Palette(context, this.profile);
    drawAxis(context, { ...this.range, left, width, top: AXIS, height: bottom - AXIS });
    for (const place of places) {
      const { lane, y, height, isOpen } = place;
      drawVisits(context, palette, lane, place);
      const below = isOpen ? { y: y + height - ROW_OPEN, height: ROW_OPEN - 1 } : { y, height };
      drawLeftOut(context, palette, lane, this.all.from, { ...place, ...below });
      drawName(context, this.#laneName(lane), lane.rank === selection().rank, place);
      this.#drawSelected(context, place);
    }
    drawOverview(context, { ...this.range, first: this.all.from, last: this.all.to, left, width, y: bottom + 4 });
    this.#drawDrag(context);
    if (this.cursor !== null) drawFrame(context, token("--ink"), ...this.#boxOf(places[this.cursor.lane], this.cursor.at));
  }

  /** Frames the visits of the selected callpath that are wide enough. */
  #drawSelected(context, place) {
    const { callpath } = selection();
    if (callpath === null) return;
    eachIn(place.lane, this.range.from, this.range.to, (at) => {
      const [x, y, wide, high] = this.#boxOf(place, at);
      if (wide >= 2 && this.data.callpaths[place.lane.callpaths[at]].row === callpath) drawFrame(context, token("--accent"), x, y, wide, high);
    });
  }

  #drawDrag(context) {
    if (!this.drag?.isWide) return;
    const [x0, x1] = [this.drag.from, this.drag.to].sort((a, b) => a - b);
    context.fillStyle = token("--band");
    context.fillRect(x0, AXIS, x1 - x0, this.layout.bottom - AXIS);
  }

  #boxOf({ lane, left, width, y, height, isOpen, row }, at) {
    const { from, to } = this.range;
    const xOf = (ns) => left + ((Math.max(from, Math.min(to, ns)) - from) / (to - from)) * width;
    const [x0, x1] = [xOf(lane.begins[at]), xOf(lane.ends[at])];
    return isOpen ? [x0, y + lane.levels[at] * row, x1 - x0, row - 1] : [x0, y, x1 - x0, height];
  }

  #laneName({ rank, thread, stands_for: ranks }) {
    const isFirst = this.lanes.find((lane) => lane.rank === rank).thread === thread;
    if (!isFirst) return `thread ${thread}`;
    return ranks > 1 ? `rank ${rank} (of ${ranks})` : `rank ${rank}`;
  }

  #legend() {
    const stops = [["computation", token("--comp")], ["calls of MPI", token("--comm")], ["set-up of MPI", token("--untagged")]];
    if (this.data.waits.length > 0) stops.push(["lower edge: waiting, as in the mean of the call on the rank", token("--warn")]);
    if (this.lanes.some(({ parts }) => parts)) stops.push(["shorter visits, added up", token("--fill")]);
    if (this.lanes.some(({ lost }) => lost > 0)) stops.push(["visits may be missing", null]);
    return legend("Colour:", stops);
  }

  #noteText() {
    const { left_out: leftOut, shortest_ns: shortest, ranks_omitted: ranks, threads_omitted: threads, hosts } = this.data;
    const visits = this.lanes.reduce((sum, lane) => sum + lane.begins.length, 0);
    const lost = this.lanes.reduce((sum, lane) => sum + lane.lost, 0);
    const words = [`${counted(visits, "visit")} in ${counted(this.lanes.length, "lane")}. What is narrower than a pixel is added up: zoom in with plus, or by drawing a part with the pointer.`];
    if (leftOut > 0) words.push(`${counted(leftOut, "visit")} shorter than ${time(shortest)} ${leftOut === 1 ? "is" : "are"} in this page only as ${leftOut === 1 ? "a sum" : "sums"}: tinyprof timeline --window shows a part of the run in full.`);
    if (lost > 0) words.push(`${counted(lost, "visit")} of these lanes were not kept, as memory was full.`);
    if (ranks > 0) words.push(`${counted(ranks, "rank")} ${ranks === 1 ? "is" : "are"} represented by others.`);
    if (threads > 0) words.push(`${counted(threads, "thread")} ${threads === 1 ? "is" : "are"} not shown.`);
    if (hosts > 1) words.push(`The clocks of the ${hosts} hosts were not compared: each begins with its first rank.`);
    return words.join(" ");
  }

  #rangeWords() {
    const { from, to } = this.range;
    return `${moment(from, (to - from) / 1000)} to ${moment(to, (to - from) / 1000)}, ${time(Math.round(to - from))} long`;
  }

  /** Returns the lines about a visit. */
  #lines(lane, at) {
    const { name, row } = this.data.callpaths[lane.callpaths[at]];
    const path = around(lane, at).map((outer) => shown(this.data.callpaths[lane.callpaths[outer]].name));
    return [
      shown(name),
      this.#laneWords(lane),
      `${time(length(lane, at))}, from ${moment(lane.begins[at], 1)} on`,
      path.length > 1 ? `in ${path.slice(0, -1).join(" › ")}` : null,
      row === null ? null : this.#shareWords(row, length(lane, at)),
      ...this.#waitWords(lane, lane.callpaths[at]),
    ];
  }

  #laneWords({ rank, thread, stands_for: ranks }) {
    const alone = this.lanes.filter((lane) => lane.rank === rank).length === 1;
    const words = alone ? this.profile.rankText(rank) : `${this.profile.rankText(rank)}, thread ${thread}`;
    return ranks > 1 ? `${words}, for ${ranks} ranks like it` : words;
  }

  /** Compares a visit with the usual one of its callpath. */
  #shareWords(row, ns) {
    const { inclusive_ns: spread, visits } = this.profile.callpaths[row];
    if (!spread || visits === 0) return null;
    const mean = spread.sum / visits;
    return `mean of all ${counted(visits, "visit")}: ${time(Math.round(mean))}${mean > 0 ? `; this one ${(ns / mean).toPrecision(2)} times` : ""}`;
  }

  /** Tells how much of a call is waiting over the run, and for whom. */
  #waitWords(lane, number) {
    const wait = lane.waits.get(number);
    if (!wait) return [];
    const place = wait.source === null ? "" : ` in ${this.profile.path(wait.source)}`;
    const cause = wait.partner === null ? null : `most for ${this.profile.rankText(wait.partner)}${place}: ${time(wait.most)}`;
    return [`over the run ${percent(wait.share)} of this call on this rank is waiting, ${time(wait.ns)}`, cause];
  }

  #leftOutLines(lane, from, to) {
    const sum = leftOutIn(lane, this.all.from, from, to);
    if (sum === null) return null;
    return [`about ${counted(sum.visits, "visit")} shorter than ${time(this.data.shortest_ns)}`, this.#laneWords(lane), `${time(sum.ns)} in them, of which ${time(sum.in_calls_ns)} in calls of MPI`];
  }

  /** Returns the lane, time and visit under the pointer. */
  #at(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const { places, left, width } = this.layout;
    const ns = this.range.from + ((x - left) / width) * (this.range.to - this.range.from);
    const place = places.find((one) => y >= one.y && y < one.y + one.height);
    if (!place) return { x, ns, lane: null, at: null };
    const pixel = (this.range.to - this.range.from) / width;
    const level = place.isOpen ? Math.floor((y - place.y) / place.row) : Infinity;
    const at = x < left ? null : innermostAt(place.lane, ns - pixel / 2, ns + pixel / 2, level);
    return { x, ns, lane: place.lane, at, pixel, isName: x < left };
  }

  #listen() {
    this.canvas.addEventListener("pointermove", (event) => this.#move(event));
    this.canvas.addEventListener("pointerdown", (event) => {
      const { x, isName } = this.#at(event);
      if (event.button !== 0 || isName || x < this.layout.left) return;
      this.drag = { from: x, to: x, isWide: false };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointerup", (event) => this.#drop(event));
    this.canvas.addEventListener("pointerleave", hush);
    this.canvas.addEventListener("dblclick", (event) => {
      const { lane, at } = this.#at(event);
      if (at !== null) this.#showVisit(lane, at);
    });
    this.canvas.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.shiftKey) return;
        event.preventDefault();
        if (event.shiftKey) this.#pan(Math.sign(event.deltaY || event.deltaX) * 0.1);
        else this.#zoom(event.deltaY > 0 ? 1.25 : 0.8, this.#at(event).ns);
      },
      { passive: false },
    );
    this.canvas.addEventListener("keydown", (event) => this.#key(event));
    this.canvas.addEventListener("blur", () => {
      this.cursor = null;
      hush();
      this.#drawCanvas();
    });
  }

  #move(event) {
    const { x, ns, lane, at, pixel } = this.#at(event);
    if (this.drag) {
      this.drag.to = Math.max(this.layout.left, Math.min(this.layout.left + this.layout.width, x));
      this.drag.isWide ||= Math.abs(this.drag.to - this.drag.from) > DRAG_PIXELS;
      this.#drawCanvas();
      return;
    }
    const lines = at !== null ? this.#lines(lane, at) : lane && this.#leftOutLines(lane, ns - pixel / 2, ns + pixel / 2);
    if (lines) tell(lines, event.clientX, event.clientY);
    else hush();
  }

  #drop(event) {
    const { drag } = this;
    this.drag = null;
    const { ns, lane, at, isName } = this.#at(event);
    if (drag?.isWide) {
      const { left, width } = this.layout;
      const of = (x) => this.range.from + ((x - left) / width) * (this.range.to - this.range.from);
      const [from, to] = [of(drag.from), of(drag.to)].sort((a, b) => a - b);
      this.#show({ from, to });
    } else if (isName && lane) select({ rank: selection().rank === lane.rank ? null : lane.rank });
    else if (at !== null) this.#pick(lane, at);
    else if (Number.isFinite(ns)) this.#drawCanvas();
  }

  #pick(lane, at) {
    const { row } = this.data.callpaths[lane.callpaths[at]];
    select({ rank: lane.rank, ...(row === null ? {} : { callpath: row }) });
  }

  /** Shows a part of the run. */
  #show({ from, to }) {
    const long = Math.max(NARROWEST_NS, Math.min(this.all.to - this.all.from, to - from));
    const first = Math.max(this.all.from, Math.min(this.all.to - long, from));
    this.range = { from: first, to: first + long };
    hush();
    this.draw();
  }

  #zoom(factor, around = this.#middle()) {
    const { from, to } = this.range;
    this.#show({ from: around - (around - from) * factor, to: around + (to - around) * factor });
  }

  #pan(part) {
    const step = (this.range.to - this.range.from) * part;
    this.#show({ from: this.range.from + step, to: this.range.to + step });
  }

  /** Returns the middle of the cursor's visit, else of what is shown. */
  #middle() {
    const { from, to } = this.range;
    if (this.cursor === null) return (from + to) / 2;
    const lane = this.lanes[this.cursor.lane];
    const [begin, end] = [Math.max(from, lane.begins[this.cursor.at]), Math.min(to, lane.ends[this.cursor.at])];
    return (begin + end) / 2;
  }

  #showVisit(lane, at) {
    const long = Math.max(NARROWEST_NS, length(lane, at));
    this.#show({ from: lane.begins[at] - long * 0.1, to: lane.begins[at] + long * 1.1 });
  }

  #key(event) {
    const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity };
    const actions = {
      "+": () => this.#zoom(0.5),
      "-": () => this.#zoom(2),
      PageUp: () => this.#pan(-0.5),
      PageDown: () => this.#pan(0.5),
      Escape: () => this.#show(this.all),
    };
    const { cursor } = this;
    if (moves[event.key] !== undefined) {
      this.cursor = event.key === "ArrowUp" || event.key === "ArrowDown" ? this.#otherLane(moves[event.key]) : this.#otherVisit(moves[event.key]);
    } else if (actions[event.key]) {
      actions[event.key]();
      event.preventDefault();
      say([this.#rangeWords()]);
      return;
    } else if (cursor !== null && event.key === "Enter") this.#pick(this.lanes[cursor.lane], cursor.at);
    else if (cursor !== null && event.key.toLowerCase() === "z") this.#showVisit(this.lanes[cursor.lane], cursor.at);
    else return;
    event.preventDefault();
    this.#drawCanvas();
    this.#tellCursor();
  }

  #tellCursor() {
    if (this.cursor === null) return;
    const lane = this.lanes[this.cursor.lane];
    const lines = this.#lines(lane, this.cursor.at);
    const box = this.canvas.getBoundingClientRect();
    const [x, y, , high] = this.#boxOf(this.layout.places[this.cursor.lane], this.cursor.at);
    tell(lines, box.left + x, box.top + y + high);
    say(lines);
  }

  /** Returns the visits of a lane that the cursor goes to: those that can be seen. */
  #visible(lane) {
    const pixel = (this.range.to - this.range.from) / this.layout.width;
    const [seen, any] = [[], []];
    eachIn(lane, this.range.from, this.range.to, (at) => {
      any.push(at);
      if (length(lane, at) >= pixel * 2) seen.push(at);
    });
    return seen.length > 0 ? seen : any;
  }

  #otherVisit(step) {
    const number = this.cursor?.lane ?? 0;
    const visits = this.#visible(this.lanes[number]);
    if (visits.length === 0) return this.#otherLane(1);
    if (this.cursor === null) return { lane: number, at: step === Infinity ? visits[visits.length - 1] : visits[0] };
    const later = visits.findIndex((at) => at >= this.cursor.at);
    const here = later < 0 ? visits.length : later;
    const exact = visits[here] === this.cursor.at;
    const next = step < 0 ? here + step : here + (exact ? step : step - 1);
    return { lane: number, at: visits[Math.max(0, Math.min(visits.length - 1, next))] };
  }

  /** Returns the visit of the next lane at the cursor's time. */
  #otherLane(step) {
    const middle = this.#middle();
    for (let number = (this.cursor?.lane ?? -1) + step; this.lanes[number]; number += step) {
      const visits = this.#visible(this.lanes[number]);
      if (visits.length === 0) continue;
      const lane = this.lanes[number];
      const far = (at) => Math.max(0, lane.begins[at] - middle, middle - lane.ends[at]);
      const nearest = visits.reduce((best, at) => (far(at) <= far(best) ? at : best));
      return { lane: number, at: nearest };
    }
    return this.cursor;
  }

  #table() {
    const { from, to } = this.range;
    const sums = sumsIn(this.lanes, from, to);
    const all = sums.reduce((sum, { ns }) => sum + ns, 0);
    const titles = ["Callpath", "Visits", "Time, without visits inside", "Share", "Longest visit"];
    const head = element("thead", {}, element("tr", {}, ...titles.map((textContent) => element("th", { scope: "col", textContent }))));
    const rows = sums.slice(0, SUMS_SHOWN).map((sum) => this.#row(sum, all));
    const left = sums.length - rows.length;
    const words = `Sums over the lanes, from ${this.#rangeWords()}${left > 0 ? `; ${counted(left, "more callpath")}` : ""}`;
    return element("table", { className: "in-view" }, element("caption", { textContent: words }), head, element("tbody", {}, ...rows));
  }

  #row({ callpath, visits, ns, lane, longest }, all) {
    const { name, row } = this.data.callpaths[callpath];
    const words = row === null ? shown(name) : this.profile.path(row);
    const link = row === null ? element("bdi", { textContent: words }) : callpathButton(words, () => select({ callpath: row }));
    const go = callpathButton(`${time(length(lane, longest))}, rank ${lane.rank}`, () => this.#showVisit(lane, longest));
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, link),
      numberCell(count(visits), visits),
      timeCell(Math.round(ns)),
      shareCell(ns, all, percent(all > 0 ? ns / all : 0)),
      element("td", {}, go),
    );
  }
}
