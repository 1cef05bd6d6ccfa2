// The facts of the run, its losses, and how well the ranks were used.

import { element, nameElement } from "./elements.js";
import { count, counted, data, percent, time } from "./numbers.js";
import { shown } from "./names.js";

/** Returns the facts as a list of terms and values. */
export function factList(profile) {
  const { report, facts } = profile;
  const rows = [
    ["program", facts.executable && shown(facts.executable)],
    ["command", facts.cmdline.length > 0 && facts.cmdline.map(shown).join(" ")],
    ["started", dateText(facts.launchdate)],
    ["user", facts.user && shown(facts.user)],
    ["cluster", facts.cluster && shown(facts.cluster)],
    ["job", facts.jobid && shown(facts.jobid)],
    ["ranks", `${rankWords(report.ranks, facts.ranks_of_profile)}${onHosts(report.hosts)}`],
    ["executions", count(report.executions)],
    ["callpaths", count(report.callpaths.length)],
    ["MPI", facts.mpi_version && shown(facts.mpi_version)],
    ["overhead", report.overhead && overheadWords(report.overhead, report.ranks)],
    ["memory", facts.peak_memory_max_bytes > 0 && `${data(facts.peak_memory_max_bytes)} at the peak of a rank`],
    ["profiler", profilerWords(facts)],
  ];
  const list = element("dl", { className: "facts" });
  for (const [term, text] of rows.filter(([, text]) => text)) {
    list.append(element("dt", { textContent: term }), element("dd", {}, nameElement(text, "fact")));
  }
  return list;
}

/** Returns what wrote the profile; empty if it was imported. */
function profilerWords({ tinyprof_version: version, clock, flush_ns }) {
  if (version === "") return "";
  return [`TinyProf ${shown(version)}`, clock && `clock ${shown(clock)}`, flush_ns > 0 && `${time(flush_ns)} to write`].filter(Boolean).join(", ");
}

/** Returns the cost of measuring, in the words of the terminal's last line. */
function overheadWords({ visit_cost_ns, a_rank_ns, share, timing_ns, starting_ns, writing_ns }, ranks) {
  const about = visit_cost_ns === null ? "about" : "at least";
  const perRank = ranks > 1 ? " per rank" : "";
  const starting = starting_ns > 0 ? `${time(starting_ns)} starting, ` : "";
  return `${about} ${time(a_rank_ns)}${perRank} (${percent(share)}): ${time(timing_ns)} timing, ${starting}${time(writing_ns)} writing`;
}

/** Returns a phrase such as ` on 2 hosts`, if they are known. */
export function onHosts(hosts) {
  return hosts > 0 ? ` on ${counted(hosts, "host")}` : "";
}

/** Formats seconds since 1970 as a date; empty if they are not a valid date. */
function dateText(seconds) {
  const date = new Date(seconds * 1000);
  if (!(seconds > 0) || Number.isNaN(date.getTime())) return "";
  return `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

function rankWords(ranks, ofProfile) {
  return ranks === ofProfile ? count(ranks) : `${count(ranks)} of ${count(ofProfile)}`;
}

/** Returns warnings that the reader needs before any number: an incomplete run, and losses. */
export function warnings(profile) {
  const { report, losses } = profile;
  const lines = [];
  if (!report.complete) lines.push(`This profile is incomplete: ${shown(report.incomplete_because ?? "")}`);
  lines.push(...losses);
  return lines.map((line) => element("p", { className: "warning" }, element("span", { "aria-hidden": "true" }, "▲ "), line));
}

const EFFICIENCIES = [
  ["parallel", "Parallel efficiency", "mean useful time per rank, of the longest rank's time"],
  ["load_balance", "Load balance", "mean useful time per rank, of the greatest"],
  ["communication", "Communication efficiency", "greatest useful time, of the longest rank's time"],
  ["serialisation", "Serialisation efficiency", "greatest useful time, of the run's time on an ideal network"],
  ["transfer", "Transfer efficiency", "the run's time on an ideal network, of the longest rank's time"],
  ["processors", "Processors", "useful time without that in which ranks had no processor, of all useful time"],
];

/** Returns the efficiencies as bars with numbers. */
export function efficiencyBlock(profile) {
  const found = profile.efficiency;
  if (!found) {
    return element("p", { className: "hint-evidence" }, "Not known: no region is tagged COMM, COMP or IO, as in #[profile(tag = \"COMM\")].");
  }
  const rows = EFFICIENCIES.filter(([key]) => (found[key] ?? null) !== null).map(([key, name, meaning]) => {
    const bar = element("span", { className: "bar-fill" });
    bar.style.width = `${Math.min(100, found[key] * 100)}%`;
    return element(
      "div",
      { className: "efficiency" },
      element("span", { className: "efficiency-name", title: meaning }, name),
      element("span", { className: "bar-track", "aria-hidden": "true" }, bar),
      element("span", { className: "number", textContent: percent(found[key]), "data-exact": String(found[key]) }),
    );
  });
  const io = found.io_share > 0 ? [element("p", { className: "hint-evidence" }, `Input and output take ${percent(found.io_share)} of all time.`)] : [];
  const unknown =
    found.communication === null
      ? [element("p", { className: "hint-evidence" }, "Communication is not known: no region has the tag COMM.")]
      : [];
  return element("div", {}, ...rows, ...io, ...unknown);
}
