// The time line: a lane for each rank and thread, from the whole run to a single visit.

import { Overlay } from "./timeline-columns.js";
import { Palette, drawFrame, drawLeftOut, drawName, drawOverview, drawVisits } from "./timeline-draw.js";
import { TimelineWords, rangeWords } from "./timeline-words.js";
import { drawMessages, messagesIn, messagesOf, mostLines } from "./timeline-messages.js";
import { afterSetUp, eachIn, innermostAt, lanesOf, length } from "./timeline-lanes.js";
import { drawAxis } from "./timeline-axis.js";
import { element } from "./elements.js";
import { inViewTable } from "./timeline-table.js";
import { hush, say, tell } from "./tooltip.js";
import { legend } from "./grid.js";
import { onSelection, select, selection } from "./selection.js";
import { letterHeight, onWidth, prepared, timed } from "./canvas.js";
import { token } from "./theme.js";

const HELP = "Time line. Left and right arrow go from visit to visit, up and down to other lanes, plus and minus zoom, Z shows the visit alone, page up and page down move, Escape shows the whole run, Enter selects.";
/** The height of the axis, and of a row of an open lane. */
const axisHeight = () => letterHeight() + 14;
const rowHeight = () => letterHeight() + 5;
/** The least time across the whole width, in ns. */
const NARROWEST_NS = 20;
const DRAG_PIXELS = 5;

export class TimelineView {
  constructor(profile) {
    this.profile = profile;
    this.data = profile.timeline;
    this.lanes = lanesOf(profile);
    this.messages = messagesOf(profile);
    this.words = new TimelineWords(profile, this.lanes, this.messages);
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
      this.note.textContent = this.words.noteText(mostLines(this.layout?.width ?? 0, this.lanes.length));
      this.place.textContent = rangeWords(this.range);
      this.legendBox.replaceChildren(this.#legend());
      this.tableBox.replaceChildren(inViewTable(this.profile, this.lanes, this.range, (lane, at) => this.#showVisit(lane, at)));
    });
  }

  /** Returns the places of lanes: those of the selected rank are open, and all if there is room. */
  #layOut() {
    const left = Math.min(9 * letterHeight(), this.box.clientWidth * 0.28);
    const width = Math.max(40, this.box.clientWidth - left - 2);
    const row = rowHeight();
    const openHeight = (lane) => (lane.level_count + (lane.parts ? 1 : 0)) * row;
    const room = Math.max(340, innerHeight * 0.55);
    const isRoom = this.lanes.reduce((sum, lane) => sum + openHeight(lane) + 8, 0) <= room;
    const closed = Math.round(Math.max(9, Math.min(26, room / this.lanes.length - 3)));
    let y = axisHeight();
    const places = this.lanes.map((lane) => {
      const isOpen = isRoom || lane.rank === selection().rank;
      const height = isOpen ? openHeight(lane) : closed;
      const place = { lane, ...this.range, left, width, y, height, isOpen, row };
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
    drawAxis(context, { ...this.range, left, width, top: axisHeight(), height: bottom - axisHeight() });
    const overlay = new Overlay({ left, top: axisHeight(), width, height: bottom - axisHeight() });
    for (const place of places) {
      const { lane, y, height, isOpen, row } = place;
      drawVisits(context, overlay, palette, lane, place);
      const below = isOpen ? { y: y + height - row, height: row - 1 } : { y, height };
      drawLeftOut(overlay, palette, lane, this.all.from, { ...place, ...below });
    }
    overlay.drawOn(context);
    for (const place of places) {
      drawName(context, this.words.laneName(place.lane), place.lane.rank === selection().rank, place);
      this.#drawSelected(context, place);
    }
    const lines = messagesIn(this.messages, this.range.from, this.range.to, mostLines(width, places.length));
    if (lines) drawMessages(context, places, lines, { ...this.range, left, width, bottom });
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
    context.fillRect(x0, axisHeight(), x1 - x0, this.layout.bottom - axisHeight());
  }

  #boxOf({ lane, left, width, y, height, isOpen, row }, at) {
    const { from, to } = this.range;
    const xOf = (ns) => left + ((Math.max(from, Math.min(to, ns)) - from) / (to - from)) * width;
    const [x0, x1] = [xOf(lane.begins[at]), xOf(lane.ends[at])];
    return isOpen ? [x0, y + lane.levels[at] * row, x1 - x0, row - 1] : [x0, y, x1 - x0, height];
  }

  #legend() {
    const stops = [["computation", token("--comp")], ["calls of MPI", token("--comm")], ["set-up of MPI", token("--untagged")]];
    if (this.data.waits.length > 0) stops.push(["lower edge: waiting, as in the mean of the call on the rank", token("--warn")]);
    if (this.messages.length > 0) stops.push(["messages", token("--ink")]);
    if (this.lanes.some(({ parts }) => parts)) stops.push(["shorter visits, added up", token("--fill")]);
    if (this.lanes.some(({ lost }) => lost > 0)) stops.push(["visits may be missing", null]);
    return legend("Colour:", stops);
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
    const leftOut = lane ? this.words.leftOutLines(lane, ns - pixel / 2, ns + pixel / 2) : [];
    const lines = at === null ? leftOut : [...this.words.lines(lane, at), ...leftOut];
    if (lines.length > 0) tell(lines, event.clientX, event.clientY);
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
      say([rangeWords(this.range)]);
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
    const lines = this.words.lines(lane, this.cursor.at);
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
}
