// The callpath tree, the flame graph or callers and what they call, with details of the selected
// callpath.

import { choice, element, nameElement, overAll, rankField } from "./elements.js";
import { count, counted, time } from "./numbers.js";
import { shown } from "./names.js";
import { onSelection, select, selection } from "./selection.js";
import { activityOf } from "./colors.js";
import { Flame } from "./flame.js";
import { legend } from "./grid.js";
import { Sankey } from "./sankey.js";
import { Tree } from "./tree.js";

export class TreeView {
  key = "tree";
  title = "Callpaths";

  constructor(profile) {
    this.profile = profile;
    this.state = { kind: "inclusive", over: "mean", picture: "flame" };
    this.flame = new Flame(profile, (row) => select({ callpath: row }));
    this.sankey = new Sankey(profile, (row) => select({ callpath: row }));
    this.pictureBox = element("div", {}, this.flame.box);
    this.tree = new Tree(profile, (row) => select({ callpath: row }));
    this.detail = element("div", { className: "detail" });
    this.matches = element("span", { className: "quiet-words", role: "status" });
    this.legendBox = element("div");
    this.overBox = element("div");
    const search = element("input", { type: "search", placeholder: "name", id: "search", oninput: () => this.#search(search.value) });
    const controls = element(
      "div",
      { className: "controls" },
      choice("Picture", [["flame", "flame graph"], ["sankey", "callers"]], "flame", (picture) => this.#setPicture(picture)),
      choice("Time", [["inclusive", "inclusive"], ["exclusive", "exclusive"]], "inclusive", (kind) => this.#set({ kind })),
      this.overBox,
      rankField(profile),
      element("label", { className: "picker" }, element("span", {}, "Search"), search, this.matches),
      element("button", { type: "button", textContent: "Zoom to selected", onclick: () => this.flame.zoomTo(selection().callpath) }),
      element("button", { type: "button", textContent: "Show all", onclick: () => this.flame.zoomTo(null) }),
    );
    this.panel = element("div", { className: "callpaths" }, controls, this.legendBox, this.pictureBox, this.detail, this.tree.box);
    onSelection(() => this.panel.isConnected && this.draw());
  }

  #set(change) {
    Object.assign(this.state, change);
    this.draw();
  }

  #setPicture(picture) {
    this.pictureBox.replaceChildren(picture === "flame" ? this.flame.box : this.sankey.box);
    this.#set({ picture });
  }

  #search(text) {
    const wanted = text.trim().toLowerCase();
    const found = wanted === "" ? [] : this.profile.callpaths.filter((callpath) => callpath.name.toLowerCase().includes(wanted));
    this.matches.textContent = wanted === "" ? "" : counted(found.length, "match").replace(/matchs$/, "matches");
    this.flame.show({ search: wanted });
    this.sankey.show({ search: wanted });
  }

  draw() {
    const { callpath, rank } = selection();
    if (rank === null && this.state.over === "rank") this.state.over = "mean";
    const overs = [["mean", "mean"], ["max", "slowest"], ...(rank === null ? [] : [["rank", `rank ${rank}`]])];
    this.overBox.replaceChildren(choice("Width", overs, this.state.over, (over) => this.#set({ over })));
    this.legendBox.replaceChildren(this.#legend());
    const { kind, over } = this.state;
    this.flame.show({ kind, over, selected: callpath, rank });
    this.sankey.show({ over, selected: callpath, rank });
    this.tree.show(this.state.kind, callpath, rank);
    this.detail.replaceChildren(callpath === null ? placeholder() : this.#details(this.profile.callpaths[callpath]));
  }

  #legend() {
    if (this.state.kind === "exclusive" && this.state.picture === "flame") return legend("Colour: exclusive time, light is much", []);
    const keys = [...new Set(this.profile.callpaths.map((callpath) => callpath.activity ?? null))];
    const stops = keys.map((activity) => {
      const { text, color, key } = activityOf({ activity });
      const pattern = { COMM: " (striped)", IO: " (dotted)" }[key] ?? "";
      return [text + pattern, color];
    });
    return legend(this.state.picture === "flame" ? "Width: inclusive time." : "Height: inclusive time. Bands go from callers to what they call.", stops);
  }

  #words({ ranks }, spread) {
    if (!spread) return "";
    const all = this.profile.report.ranks;
    const mean = ranks < all ? `mean ${time(spread.mean)} over its ${counted(ranks, "rank")}, ${time(spread.sum / all)} ${overAll(ranks, all)}` : `mean ${time(spread.mean)} per rank`;
    return `${time(spread.min)} to ${time(spread.max)}, ${mean}`;
  }

  #wordsOfRank({ row }) {
    const [inclusive, exclusive] = ["inclusive", "exclusive"].map((kind) => this.profile.timeOnRank(row, selection().rank, kind));
    if (inclusive === undefined) return "not in this page, which has the rank only together with its neighbours, or not this callpath";
    return inclusive === inclusive ? `${time(inclusive)} inclusive, ${time(exclusive)} exclusive` : "never runs it";
  }

  #details(callpath) {
    const { site } = callpath;
    const rows = [
      ["where", site.file && `${shown(site.file)}:${site.line}`],
      ["ranks", `${count(callpath.ranks)} of ${count(this.profile.report.ranks)}`],
      ["inclusive time", this.#words(callpath, callpath.inclusive_ns)],
      ["exclusive time", this.#words(callpath, callpath.exclusive_ns)],
      selection().rank === null ? ["", ""] : [`rank ${selection().rank}`, this.#wordsOfRank(callpath)],
      ...Object.entries(site.constants).map(([key, value]) => [shown(key), shown(value)]),
      ...Object.entries(callpath.metrics).map(([key, metric]) => [shown(key), metricWords(metric)]),
    ];
    const list = element("dl", { className: "facts" });
    for (const [term, text] of rows.filter(([, text]) => text)) {
      list.append(element("dt", {}, element("bdi", {}, term)), element("dd", {}, nameElement(text, "fact")));
    }
    return list;
  }
}

function placeholder() {
  return element("p", { className: "note" }, "Select a callpath to see where it is in the source, its times and its metrics; all views follow.");
}

function metricWords({ values, sum, min, mean, max }) {
  const number = (n) => (n === null ? "–" : String(Number(n.toPrecision(4))));
  return `${count(values)} values, sum ${number(sum)}, ${number(min)} to ${number(max)}, mean ${number(mean)}`;
}
