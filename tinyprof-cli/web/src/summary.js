// The first view: where the time was spent, on which rank, in which iteration, and since when.

import { callpathButton, element, nothing, numberCell, rankButton, shareCell, timeCell } from "./elements.js";
import { count, counted, deviation, percent, time } from "./numbers.js";
import { efficiencyBlock, factList, warnings } from "./facts.js";
import { onSelection, select, selection } from "./selection.js";
import { sortable } from "./table.js";

const COSTLIEST = 10;
const HINT_SIGNS = { straggler: "rank", imbalance: "rank", growth: "time", "slow first": "time", "too small": "cost", communication: "run", "load balance": "run", "input and output": "run", crowded: "run", "short run": "run" };
const HINT_VIEWS = { straggler: "ranks", imbalance: "ranks", growth: "iterations", "slow first": "iterations", "too small": "tree", communication: "tree", "load balance": "ranks", "input and output": "tree", crowded: "summary", "short run": "summary" };

export class SummaryView {
  key = "summary";
  title = "Summary";

  constructor(profile, goTo) {
    this.panel = element("div", { className: "summary" });
    this.costliestBox = element("div");
    const order = {};
    const costliest = profile.callpaths
      .filter((callpath) => callpath.exclusive_ns)
      .sort((a, b) => b.exclusive_ns.sum - a.exclusive_ns.sum)
      .slice(0, COSTLIEST);
    this.makeTable = () => costliestTable(profile, costliest, goTo, order);
    onSelection(() => this.panel.isConnected && this.draw());
    this.panel.append(
      ...warnings(profile),
      headline(profile, costliest[0], goTo),
      card("What stands out", hintList(profile, goTo), "wide"),
      card("Where the time goes", this.costliestBox, "full"),
      card("How well the ranks were used", efficiencyBlock(profile)),
      card("The run", factList(profile)),
    );
  }

  draw() {
    this.costliestBox.replaceChildren(this.makeTable());
  }
}

function card(title, content, className = "") {
  return element("section", { className: `card ${className}` }, element("h2", { textContent: title }), content);
}

/** Returns the total time, and the callpath that took most of it. */
function headline(profile, first, goTo) {
  const total = profile.report.total_inclusive_ns;
  const ranks = profile.report.ranks;
  const figures = [
    [time(ranks > 0 ? total / ranks : 0), "a rank, mean", null],
    [time(total), `on ${counted(ranks, "rank")} together`, total],
  ];
  if (first && total > 0) figures.push([percent(first.exclusive_ns.sum / total), `in ${first.text} itself`, null]);
  if (profile.efficiency && profile.efficiency.parallel !== null) figures.push([percent(profile.efficiency.parallel), "parallel efficiency", null]);
  return element(
    "div",
    { className: "figures" },
    ...figures.map(([figure, words, exact]) =>
      element(
        "div",
        { className: "figure" },
        element("span", { className: "figure-number", textContent: figure, "data-exact": exact === null ? undefined : String(exact) }),
        element("bdi", { className: "figure-words", textContent: words, title: words }),
      ),
    ),
  );
}

function hintList(profile, goTo) {
  if (profile.hints.length === 0) {
    return element("p", { className: "hint-evidence" }, "Nothing: no rank, region or iteration is beyond the thresholds of the hints.");
  }
  const items = profile.hints.map((hint) => {
    const look = () => {
      const change = {};
      if (hint.callpath !== null) change.callpath = hint.callpath;
      if (hint.rank !== null) change.rank = hint.rank;
      select(change);
      goTo(HINT_VIEWS[hint.kind]);
    };
    return element(
      "li",
      {},
      element("span", { className: "hint-kind", textContent: HINT_SIGNS[hint.kind] }),
      element(
        "div",
        {},
        element("button", { type: "button", className: "link hint-headline", onclick: look }, element("bdi", {}, hint.headline)),
        element("p", { className: "hint-evidence", textContent: hint.evidence }),
      ),
    );
  });
  return element("ol", { className: "hints" }, ...items);
}

function costliestTable(profile, costliest, goTo, order) {
  if (costliest.length === 0) return nothing("No region was visited.");
  const head = ["Callpath", "Visits", "Itself", "Share", "Mean rank", "Slowest rank", "Slowest", "Above mean"];
  const greatest = costliest[0].exclusive_ns.sum;
  const rows = costliest.map((callpath) => {
    const own = callpath.exclusive_ns;
    const pick = () => {
      select({ callpath: callpath.row });
      goTo("tree");
    };
    return element(
      "tr",
      { "aria-selected": String(callpath.row === selection().callpath) },
      element("th", { scope: "row" }, callpathButton(callpath.text, pick), element("bdi", { className: "path", textContent: callpath.parent === null ? "" : profile.path(callpath.parent, 3) })),
      numberCell(count(callpath.visits), callpath.visits),
      timeCell(own.sum, own.standard_error === null ? "" : "~"),
      shareCell(own.sum, greatest, percent(own.sum / (profile.report.total_inclusive_ns || 1))),
      timeCell(own.mean),
      timeCell(own.max),
      element("td", { className: "rank" }, rankButton(profile, own.max_rank)),
      numberCell(deviation(own.imbalance), own.imbalance),
    );
  });
  const table = element("table", { className: "costliest" });
  table.append(
    element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col", textContent: text })))),
    element("tbody", {}, ...rows),
  );
  sortable(table, order);
  return element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "The costliest callpaths" }, table);
}
