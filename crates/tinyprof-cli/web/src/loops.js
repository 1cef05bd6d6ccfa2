// Loops that are seen from their calls, where no region has a series: sums, not each iteration.

import { element, nothing, numberCell, shareCell, timeCell } from "./elements.js";
import { count, percent } from "./numbers.js";
import { shown } from "./names.js";

const NO_SERIES = "No region has a series. Loops keep one with profile_loop!(\"step\", mode = each, ...), functions with #[profile(mode = each)].";
const NO_LOOPS = " Of programs without regions, tinyprof run -o mpi=messages finds the loops around calls of MPI.";
const TITLES = ["Loop", "Ranks", "Iterations per rank", "Time of an iteration", "Computing", "Waiting", "Waiting, of the loop"];

/** Returns what is known of iterations without a series. */
export function withoutSeries(profile) {
  if (profile.loops.length === 0) return [nothing(NO_SERIES + NO_LOOPS)];
  const words = "Loops that are seen from their calls of MPI: means over their iterations and ranks. The profile does not have each iteration of them; where an iteration begins is a guess.";
  const head = element("thead", {}, element("tr", {}, ...TITLES.map((textContent) => element("th", { scope: "col", textContent }))));
  const table = element("table", { className: "loops" }, head, element("tbody", {}, ...profile.loops.map(loopRow)));
  return [element("p", { className: "note", textContent: words }), element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Loops" }, table)];
}

function loopRow({ name, ranks, size, iterations, ns, computing_ns: computing, waiting_ns: waiting }) {
  const mean = (sum) => (iterations > 0 ? Math.round(sum / iterations) : null);
  const ofRank = Math.round(iterations / size);
  const part = ns > 0 ? waiting / ns : 0;
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, element("bdi", { textContent: shown(name) })),
    numberCell(`${ranks} (${count(size)})`, size),
    numberCell(count(ofRank), ofRank),
    timeCell(mean(ns)),
    timeCell(mean(computing)),
    timeCell(mean(waiting)),
    shareCell(part, 1, percent(part)),
  );
}
