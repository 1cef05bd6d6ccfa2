// Reads the data in the page, and shows it.

import { unpacked } from "./columns.js";
import { Profile } from "./profile.js";
import { element } from "./elements.js";
import { shown } from "./names.js";
import { counted, time } from "./numbers.js";
import { onHosts } from "./facts.js";
import { keepFocus } from "./focus.js";
import { onSelection, select, selection } from "./selection.js";
import { currentTheme, onTheme, setTheme, startTheme } from "./theme.js";
import { SummaryView } from "./summary.js";
import { TreeView } from "./tree-view.js";
import { RanksView } from "./ranks.js";
import { IterationsView } from "./iterations.js";
import { ExecutionsView } from "./executions.js";
import { CommunicationView } from "./communication.js";
import { StructureView } from "./structure.js";
import { TimelineView } from "./timeline.js";
import { CompareView } from "./compare.js";
import { Tabs } from "./tabs.js";
import { keepPlace } from "./place.js";
import { startCopying } from "./table.js";

async function start() {
  startTheme();
  const dataOf = (name) => Promise.all([...document.querySelectorAll(`script.${name}`)].map(unpacked));
  const profiles = (await dataOf("profile")).map((data) => new Profile(data));
  const [comparison] = await dataOf("comparison");
  // For two runs, the views show the later one.
  const profile = profiles[profiles.length - 1];
  title(profiles);
  document.documentElement.classList.toggle("one-rank", profile.report.ranks === 1);
  const tabs = new Tabs([
    ["summary", "Summary", () => new SummaryView(profile, (key, then) => tabs.show(key, then))],
    ["tree", "Callpaths", () => new TreeView(profile)],
    ...(profile.report.ranks > 1 ? [["ranks", "Ranks", () => new RanksView(profile)]] : []),
    ["iterations", "Iterations", () => new IterationsView(profile)],
    ...(profile.report.executions > 1 ? [["executions", "Executions", () => new ExecutionsView(profile)]] : []),
    ...(profile.communication ? [["communication", "Communication", () => new CommunicationView(profile)]] : []),
    ...(profile.structure ? [["structure", "Structure", () => new StructureView(profile)]] : []),
    ...(profile.timeline ? [["timeline", "Time line", () => new TimelineView(profile)]] : []),
    ...(comparison ? [["compare", "Compare", () => new CompareView(profiles, comparison.head)]] : []),
  ]);
  onTheme(() => tabs.redraw());
  onSelection(() => selectedLine(profile));
  selectedLine(profile);
  paper(tabs);
  startCopying();
  keepFocus(document.getElementById("views"));
  keepPlace(profile, tabs, comparison ? "compare" : profile.opens_timeline ? "timeline" : "summary");
  document.documentElement.dataset.ready = "true";
}

function title(profiles) {
  const { report } = profiles[profiles.length - 1];
  const name = profiles.map((profile) => shown(profile.report.name)).join(" → ");
  document.title = `${name} – TinyProf`;
  document.getElementById("title").textContent = name;
  document.getElementById("subtitle").textContent =
    `${counted(report.ranks, "rank")}${onHosts(report.hosts)}, ${counted(report.callpaths.length, "callpath")}, ${time(report.total_inclusive_ns)} in all`;
}

/** Shows the selection of all views, with a button to clear it. */
function selectedLine(profile) {
  const { callpath, rank } = selection();
  const words = [];
  if (callpath !== null) words.push(profile.path(callpath));
  if (rank !== null) words.push(profile.rankText(rank));
  const line = document.getElementById("selected");
  line.hidden = words.length === 0;
  line.replaceChildren(
    element("span", { textContent: "Selected " }),
    ...words.map((word) => element("bdi", { className: "chip", textContent: word })),
    element("button", { type: "button", className: "link", textContent: "clear", onclick: () => select({ callpath: null, rank: null }) }),
  );
}

/** Prints all views one below the other, in light colours. */
function paper(tabs) {
  let before = null;
  addEventListener("beforeprint", () => {
    before = { theme: currentTheme(), key: tabs.current };
    document.documentElement.classList.add("paper");
    setTheme("light");
    tabs.redraw(true);
  });
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("paper");
    setTheme(before.theme);
    tabs.show(before.key);
  });
}

start().catch((error) => {
  const failure = document.getElementById("failure");
  failure.textContent = `This page could not be read: ${error.message}. Write it anew with tinyprof html; a browser of 2023 or newer is needed.`;
  failure.hidden = false;
  throw error;
});
