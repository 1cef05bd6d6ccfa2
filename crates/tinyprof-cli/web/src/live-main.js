// The page of a running job: pictures come from tinyprof live as server-sent events.

import { card, element, figureElement } from "./elements.js";
import { counted, percent, time } from "./numbers.js";
import { efficiencyBlock, onHosts } from "./facts.js";
import { keepFocus } from "./focus.js";
import { shown } from "./names.js";
import { whyList } from "./why-list.js";
import { onTheme, startTheme } from "./theme.js";
import { startCopying } from "./table.js";
import { LiveHistory } from "./live-history.js";
import { LiveCallpaths } from "./live-callpaths.js";
import { LiveRanks } from "./live-ranks.js";
import { LiveCommands } from "./live-commands.js";

const LOSSES = [["records_unreadable", "unreadable record"], ["records_torn", "torn record"], ["visits_not_recorded", "unrecorded visit"]];

class LivePage {
  constructor() {
    this.figures = element("div", { className: "figures" });
    this.why = element("div");
    this.efficiency = element("div");
    this.history = new LiveHistory();
    this.ranks = new LiveRanks();
    this.callpaths = new LiveCallpaths(() => this.#showRanks());
    this.commands = new LiveCommands();
    this.whyCard = card("Why", this.why, "full first");
    this.parts = [
      this.figures,
      this.whyCard,
      card("What ranks do", this.history.box, "larger"),
      card("How well the ranks are used", this.efficiency, "smaller"),
      card("Callpaths", this.callpaths.box, "full first"),
      card("Ranks of the selected callpath", this.ranks.box, "half"),
      card("Commands", this.commands.box, "half"),
    ];
    onTheme(() => this.history.draw());
  }

  /** Shows a picture. */
  show(picture) {
    const views = document.getElementById("views");
    if (views.children.length === 0) views.replaceChildren(...this.parts);
    this.picture = picture;
    this.choose([]);
    document.title = `${shown(picture.name)} – TinyProf live`;
    document.getElementById("title").textContent = shown(picture.name);
    const seen = picture.ranks_seen < picture.ranks ? `${picture.ranks_seen} of ` : "";
    const ran = picture.elapsed_ns === null ? "" : `, ${picture.has_ended ? "ran" : "runs for"} ${time(picture.elapsed_ns)}`;
    document.getElementById("subtitle").textContent = `${seen}${counted(picture.ranks, "rank")}${onHosts(picture.hosts)}${ran}${iterationOf(picture)}`;
    state(warningsOf(picture));
    this.figures.replaceChildren(...figuresOf(picture));
    this.whyCard.hidden = picture.causes === null;
    if (picture.causes) update(this.why, whyList(picture.causes));
    update(this.efficiency, efficiencyBlock({ efficiency: picture.efficiency }));
    this.history.mark(picture.marks);
    this.history.add(picture.point);
    this.callpaths.show(picture.callpaths, picture.ranks);
    this.#showRanks();
    this.commands.show(picture.marks);
    document.documentElement.dataset.ready = "true";
  }

  /** Lets the user choose one of several jobs. */
  choose(jobs) {
    const choices = jobs.map(({ id, what }) => element("li", {}, element("button", { type: "button", textContent: shown(`${id}: ${what}`), onclick: () => this.commands.give({ verb: "watch", job: id }) })));
    document.getElementById("choice").replaceChildren(...choices);
  }

  #showRanks() {
    this.ranks.show(this.callpaths.current(), this.picture.ranks);
  }
}

/** Puts new content into a box if it differs, so that a selection in it stays. */
function update(box, content) {
  if (box.firstChild && box.firstChild.isEqualNode(content)) return;
  box.replaceChildren(content);
}

/** Returns how far the job is, if somebody has said how far it goes. */
function iterationOf({ loop, has_ended: hasEnded }) {
  if (!loop || loop.of === null) return "";
  const left = loop.remaining_ns === null || hasEnded ? "" : `, about ${time(loop.remaining_ns)} left`;
  return `, iteration ${loop.iteration} of ${loop.of}${left}`;
}

function figuresOf({ efficiency, activity, callpaths }) {
  const busiest = callpaths.filter(({ now }) => now !== null).sort((a, b) => b.exclusive_now - a.exclusive_now)[0];
  const figures = [
    [percent(efficiency?.parallel), "parallel efficiency"],
    [percent(activity?.computation), "of the last look computing"],
    [percent(activity?.communication), "of the last look in MPI"],
    ...(busiest ? [[percent(busiest.exclusive_now), `of the last look in ${shown(busiest.name)} itself`]] : []),
  ];
  return figures.map(figureElement);
}

/** Returns what a reader has to know before any number. */
function warningsOf({ has_ended: hasEnded, still, missing, losses }) {
  const lines = hasEnded ? ["The job has ended: these are its last numbers."] : [];
  for (const { host, why } of missing.worst) lines.push(`Nothing of ${shown(host)}: ${shown(why)}`);
  for (const { rank, host, since_ns: since, is_stopped: isStopped } of still.worst) {
    lines.push(`Rank ${rank} on ${shown(host)} ${isStopped ? "is stopped, and " : ""}has not moved for ${time(since)}`);
  }
  for (const [key, words] of LOSSES) if (losses[key] > 0) lines.push(`${counted(losses[key], words)} lost`);
  return lines;
}

/** Shows the state of the connection and of the job; nothing if all is well. */
function state(lines) {
  const line = document.getElementById("state");
  const text = lines.join(" · ");
  line.hidden = text === "";
  if (line.textContent !== text) line.textContent = text;
}

function startLive() {
  startTheme();
  startCopying();
  keepFocus(document.getElementById("views"));
  const page = new LivePage();
  state(["Connecting …"]);
  const events = new EventSource("events");
  const on = (name, take) => events.addEventListener(name, ({ data }) => take(JSON.parse(data)));
  on("points", (points) => page.history.reset(points));
  on("waiting", (waiting) => {
    state([shown(waiting.for)]);
    page.choose(waiting.jobs);
  });
  on("picture", (picture) => page.show(picture));
  events.onerror = () => state(["tinyprof live does not answer. If it runs, this page goes on by itself."]);
}

startLive();
