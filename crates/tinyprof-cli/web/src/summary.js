// The first view: where the time was spent, on which rank, in which iteration, and since when.

import { card, element, figureElement, sentence } from "./elements.js";
import { count, counted, percent, time } from "./numbers.js";
import { efficiencyBlock, factList, warnings } from "./facts.js";
import { onSelection, select } from "./selection.js";
import { Costliest } from "./costliest.js";
import { WaitingCard } from "./waiting-card.js";
import { hasThreads, threadsBlock } from "./threads.js";
import { whyList } from "./why-list.js";
import { shown } from "./names.js";

const HINT_SIGNS = { straggler: "rank", imbalance: "rank", growth: "time", "slow first": "time", "too small": "cost", communication: "run", "load balance": "run", "input and output": "run", crowded: "run", "short run": "run" };
const HINT_VIEWS = { straggler: "ranks", imbalance: "ranks", growth: "iterations", "slow first": "iterations", "too small": "tree", communication: "tree", "load balance": "ranks", "input and output": "tree", crowded: "summary", "short run": "summary" };

export class SummaryView {
  key = "summary";
  title = "Summary";

  constructor(profile, goTo) {
    this.panel = element("div", { className: "summary" });
    this.costliest = new Costliest(profile, goTo);
    this.waiting = profile.why && profile.waiting && profile.communication ? new WaitingCard(profile, (cell) => goTo("communication", (view) => view.showWaiting(cell))) : null;
    onSelection(() => this.panel.isConnected && this.draw());
    this.panel.append(
      ...warnings(profile),
      ...(profile.why ? [card("Why", whyList(profile.why), this.waiting ? "larger why-card" : "full")] : []),
      ...(this.waiting ? [this.waiting.card] : []),
      headline(profile),
      card("What stands out", hintList(profile, goTo), "larger hints-card"),
      card("How well the ranks were used", efficiencyBlock(profile), "smaller efficiency-card"),
      card("Where the time goes", this.costliest.box, "full"),
      ...(hasThreads(profile) ? [card("Threads", threadsBlock(profile, goTo), "full")] : []),
      card("The run", factList(profile), "run-card"),
    );
  }

  draw() {
    this.costliest.draw();
    this.waiting?.draw();
  }
}

/** Returns the total time, and the region that took most of it. */
function headline(profile) {
  const total = profile.report.total_inclusive_ns;
  const ranks = profile.report.ranks;
  const figures = [
    [time(ranks > 0 ? total / ranks : 0), ranks === 1 ? "in all" : "per rank, mean", null],
    [time(total), `on ${counted(ranks, "rank")} together`, total],
  ];
  const startup = profile.report.startup_ns;
  if (startup > 0) figures.push([time(ranks > 0 ? startup / ranks : 0), ranks === 1 ? "start-up, besides" : "start-up per rank, besides", startup]);
  // Start-up has no share.
  const first = profile.regions.find(({ exclusive_share: share }) => share > 0);
  if (first?.exclusive_ns && total > 0) figures.push([percent(first.exclusive_share), `exclusive in ${shown(first.name)}${first.callpaths > 1 ? `, over ${count(first.callpaths)} callpaths` : ""}`, null]);
  if (profile.efficiency && profile.efficiency.parallel !== null) figures.push([percent(profile.efficiency.parallel), "parallel efficiency", null]);
  return element(
    "div",
    { className: "figures" },
    ...figures.map(figureElement),
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
        element("p", { className: "hint-evidence" }, ...sentence(hint.evidence)),
      ),
    );
  });
  return element("ol", { className: "hints" }, ...items);
}
