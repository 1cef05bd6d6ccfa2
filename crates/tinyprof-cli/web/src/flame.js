// The flame graph, on a canvas: ten thousand frames as elements take seconds, drawing the visible
// ones takes a few milliseconds.

import { font, onWidth, prepared, timed } from "./canvas.js";
import { activityOf, activityPattern, amountColor, cssColor, isLight } from "./colors.js";
import { fitted, waitsWords } from "./names.js";
import { frames, timeOf, widthOver } from "./frames.js";
import { token } from "./theme.js";
import { count, percent, time } from "./numbers.js";
import { hush, say, tell } from "./tooltip.js";

const ROW = 22;
const LEVELS_MAX = 64;
const NARROWEST = 0.4;

export class Flame {
  /**
   * `pick(row)`: called when a callpath is chosen, with null for none. `look` may have functions
   * `frames()`, `color(callpath)` and `words(callpath)` for other widths, colours and lines of the
   * tooltip.
   */
  constructor(profile, pick, look = {}) {
    this.look = look;
    this.profile = profile;
    this.pick = pick;
    this.state = { kind: "inclusive", over: "mean", search: "", selected: null, root: null, rank: null };
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute(
      "aria-label",
      "Flame graph. Arrow keys move between callpaths, Enter shows the callpath over the whole width, Escape shows all.",
    );
    this.box = document.createElement("div");
    this.box.className = "flame";
    this.box.append(this.canvas);
    this.frames = null;
    this.#listen();
    onWidth(this.box, () => this.drawnWidth, () => this.draw());
  }

  show(change) {
    const { over, rank } = this.state;
    Object.assign(this.state, change);
    const isOther = this.state.over !== over || (over === "rank" && this.state.rank !== rank);
    if (isOther || this.frames === null) this.frames = this.#layOut();
    this.draw();
  }

  #layOut() {
    if (this.look.frames) return this.look.frames();
    const { over, rank } = this.state;
    return frames(this.profile.roots, widthOver(this.profile, over, rank));
  }

  draw() {
    if (this.box.clientWidth > 0 && this.frames !== null) timed("draw flame graph", () => this.#draw());
  }

  /**
   * Returns the visible part: frames of the zoomed callpath and below, and the callpaths around it.
   */
  #view() {
    const root = this.state.root === null ? null : this.frames.get(this.state.root);
    const [x0, x1] = root ? [root.x0, root.x1] : [0, 1];
    return { x0, scale: this.box.clientWidth / (x1 - x0 || 1), top: root ? Math.max(0, root.depth - 4) : 0 };
  }

  #draw() {
    const { x0, scale, top } = this.#view();
    const width = this.box.clientWidth;
    this.drawnWidth = width;
    const seen = [];
    let levels = 1;
    for (const frame of this.frames.values()) {
      const left = Math.max(0, (frame.x0 - x0) * scale);
      const right = Math.min(width, (frame.x1 - x0) * scale);
      const level = frame.depth - top;
      if (right - left < NARROWEST || level < 0 || level >= LEVELS_MAX) continue;
      levels = Math.max(levels, level + 1);
      seen.push({ frame, left, right, y: level * ROW });
    }
    this.seen = seen;
    const context = prepared(this.canvas, width, levels * ROW + 1);
    context.font = font();
    context.textBaseline = "middle";
    const patterns = new Map();
    for (const place of seen) this.#drawFrame(context, place, patterns);
  }

  #drawFrame(context, { frame, left, right, y }, patterns) {
    const { callpath } = frame;
    const { kind, search, selected } = this.state;
    const activity = activityOf(callpath);
    const found = search === "" || callpath.name.toLowerCase().includes(search);
    const width = right - left;
    let ink = token("--frame-ink");
    context.globalAlpha = found ? 1 : 0.25;
    if (this.look.color) {
      const packed = this.look.color(callpath);
      context.fillStyle = cssColor(packed);
      ink = isLight(packed) ? "#000" : "#fff";
    } else if (kind === "exclusive") {
      const own = callpath.exclusive_ns?.sum ?? 0;
      const packed = amountColor(Math.sqrt(own / (this.greatestOwn ??= Math.max(1, ...this.#owns()))));
      context.fillStyle = cssColor(packed);
      ink = isLight(packed) ? "#000" : "#fff";
    } else context.fillStyle = activity.color;
    context.fillRect(left, y, Math.max(0.5, width - (width > 3 ? 1 : 0)), ROW - 1);
    if (kind === "inclusive" && !this.look.color && width > 6) {
      if (!patterns.has(activity.key)) patterns.set(activity.key, activityPattern(context, activity.key));
      const pattern = patterns.get(activity.key);
      if (pattern) {
        context.fillStyle = pattern;
        context.fillRect(left, y, width - 1, ROW - 1);
      }
    }
    if (width > 28) {
      context.fillStyle = ink;
      context.fillText(fitted(context, callpath.text, width - 10), left + 5, y + ROW / 2);
    }
    context.globalAlpha = 1;
    if (callpath.row === selected || (search !== "" && found)) {
      context.strokeStyle = callpath.row === selected ? token("--ink") : token("--accent");
      context.lineWidth = callpath.row === selected ? 2.5 : 1.5;
      context.strokeRect(left + 1, y + 1, Math.max(1, width - 3), ROW - 3);
    }
  }

  #owns() {
    return this.profile.callpaths.slice(0, 50000).map((callpath) => callpath.exclusive_ns?.sum ?? 0);
  }

  #at(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    // Later frames are deeper; of those that share a pixel, any will do.
    return this.seen?.find((place) => x >= place.left && x < place.right && y >= place.y && y < place.y + ROW);
  }

  #meanWords({ ranks }) {
    const all = this.profile.report.ranks;
    return ranks < all ? `mean of the ${count(ranks)} of ${count(all)} ranks that run it` : "mean per rank";
  }

  /** Returns the lines about a callpath for the tooltip. */
  lines(callpath) {
    const { over } = this.state;
    const { rank } = this.state;
    const words = over === "max" ? "slowest rank" : this.#meanWords(callpath);
    const [inclusive, exclusive] = ["inclusive", "exclusive"].map((kind) => timeOf(callpath, kind, over === "max" ? "max" : "mean"));
    const ofRank = rank === null ? undefined : this.profile.timeOnRank(callpath.row, rank, "inclusive");
    return [
      callpath.text,
      `${time(inclusive)} inclusive, ${time(exclusive)} exclusive (${words})`,
      ofRank === undefined ? null : `rank ${rank}: ${ofRank === ofRank ? `${time(ofRank)} inclusive` : "never runs it"}`,
      `${percent(callpath.share)} of all time, ${count(callpath.visits)} visits`,
      callpath.inclusive_ns ? `slowest: ${this.profile.rankText(callpath.inclusive_ns.max_rank)}` : "no rank runs it",
      waitsWords(callpath.waits_for) || null,
      activityOf(callpath).text,
      ...(this.look.words?.(callpath) ?? []),
    ];
  }

  #listen() {
    this.canvas.addEventListener("pointermove", (event) => {
      const place = this.#at(event);
      if (place) tell(this.lines(place.frame.callpath), event.clientX, event.clientY);
      else hush();
    });
    this.canvas.addEventListener("pointerleave", hush);
    this.canvas.addEventListener("blur", hush);
    this.canvas.addEventListener("click", (event) => {
      const place = this.#at(event);
      if (place) this.pick(place.frame.callpath.row);
    });
    this.canvas.addEventListener("dblclick", (event) => {
      const place = this.#at(event);
      if (place) this.zoomTo(place.frame.callpath.row);
    });
    this.canvas.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Shows a callpath over the whole width; null shows all. */
  zoomTo(row) {
    this.show({ root: row });
  }

  #key(event) {
    const { selected } = this.state;
    if (event.key === "Escape") return this.zoomTo(null);
    if (event.key === "Enter") return this.zoomTo(selected);
    const to = selected === null ? this.profile.roots[0]?.row : this.#neighbour(selected, event.key);
    if (to === undefined || !event.key.startsWith("Arrow")) return undefined;
    event.preventDefault();
    this.pick(to);
    const lines = this.lines(this.profile.callpaths[to]);
    say(lines);
    const place = this.seen?.find(({ frame }) => frame.callpath.row === to);
    const box = this.canvas.getBoundingClientRect();
    if (place) tell(lines, box.left + place.left, box.top + place.y + ROW);
    return undefined;
  }

  #neighbour(row, key) {
    const { parent, children } = this.profile.callpaths[row];
    const byPlace = (list) => [...list].sort((a, b) => this.frames.get(a.row).x0 - this.frames.get(b.row).x0);
    if (key === "ArrowUp") return parent ?? undefined;
    if (key === "ArrowDown") return byPlace(children)[0]?.row;
    const siblings = byPlace(parent === null ? this.profile.roots : this.profile.callpaths[parent].children);
    const at = siblings.findIndex((callpath) => callpath.row === row);
    return siblings[at + (key === "ArrowRight" ? 1 : -1)]?.row;
  }
}
