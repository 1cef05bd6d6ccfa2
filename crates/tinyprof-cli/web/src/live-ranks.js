// The ranks of the selected callpath of a running job: a row of all, and the slowest by name.

import { element, nameElement } from "./elements.js";
import { counted, deviation, time } from "./numbers.js";
import { drawStrip } from "./live-callpaths.js";
import { shown, waitsWords } from "./names.js";

export class LiveRanks {
  constructor() {
    this.title = element("p", { className: "hint-headline" });
    this.place = element("p", { className: "note" });
    this.strip = element("canvas", { "aria-hidden": "true" });
    this.ends = element("p", { className: "note" });
    this.body = element("tbody");
    const head = element("thead", {}, element("tr", {}, ...["rank", "host", "inclusive"].map((text) => element("th", { scope: "col", textContent: text }))));
    this.table = element("table", { className: "live by-rank" }, element("caption", { textContent: "The slowest ranks" }), head, this.body);
    this.box = element("div", {}, this.title, this.place, this.strip, this.ends, this.table);
  }

  show(callpath, ranks) {
    this.box.hidden = !callpath;
    if (!callpath) return;
    this.title.replaceChildren(nameElement(shown(callpath.callpath)));
    const where = callpath.file ? `${shown(callpath.file)}:${callpath.line}, ` : "";
    const cause = waitsWords(callpath.waits_for);
    const isOne = ranks === 1;
    for (const part of [this.strip, this.ends, this.table]) part.hidden = isOne;
    const imbalance = isOne ? "" : `; imbalance ${deviation(callpath.imbalance)}${cause && `; ${cause}: the slowest have waited longest`}`;
    this.place.textContent = `${where}on ${counted(callpath.ranks, "rank")}${imbalance}`;
    if (isOne) return;
    drawStrip(this.strip, callpath.bins_ns, [Math.max(120, this.box.clientWidth), 26]);
    const each = Math.max(1, Math.ceil(ranks / 64));
    this.ends.textContent = `rank 0 on the left, ${ranks - 1} on the right; the lighter, the longer${each > 1 ? `; each place is the slowest of ${each} ranks` : ""}`;
    this.body.replaceChildren(
      ...callpath.slowest.map(({ rank, host, inclusive_ns: ns }) =>
        element("tr", {}, element("th", { scope: "row", textContent: rank }), element("td", {}, nameElement(shown(host))), element("td", { className: "number", textContent: time(ns), "data-exact": String(ns) })),
      ),
    );
  }
}
