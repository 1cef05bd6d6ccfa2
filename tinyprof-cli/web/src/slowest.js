// The iterations that took longest on some rank, ranked.

import { element, numberCell, rankButton, timeCell } from "./elements.js";
import { deviation } from "./numbers.js";
import { select } from "./selection.js";
import { sortable } from "./table.js";

const SLOWEST_HEADINGS = ["Iteration", "Execution", "Slowest", "Its time", "Mean rank", "Against the usual iteration"];

/** Returns the table. `goTo(visit)`: shows an iteration in the chart. */
export function slowestTable(profile, series, order, goTo) {
  const { slowest, usual_max_ns: usual } = series;
  const rows = slowest.map(({ visit, execution, rank, max_ns, mean_ns }) => {
    const part = usual > 0 ? max_ns / usual - 1 : null;
    const show = () => {
      select({ callpath: series.callpath, rank });
      goTo(visit);
    };
    const button = element("button", { type: "button", className: "link", textContent: String(visit), onclick: show });
    return element(
      "tr",
      {},
      element("th", { scope: "row", "data-exact": visit }, button),
      numberCell(String(execution), execution),
      element("td", { className: "rank", "data-exact": rank }, rankButton(profile, rank)),
      timeCell(max_ns),
      timeCell(mean_ns),
      numberCell(deviation(part), part),
    );
  });
  const table = element("table", { className: "slowest" });
  table.append(
    element("caption", { textContent: "The slowest iterations, by their slowest rank" }),
    element("thead", {}, element("tr", {}, ...SLOWEST_HEADINGS.map((textContent) => element("th", { scope: "col", textContent })))),
    element("tbody", {}, ...rows),
  );
  return sortable(table, order);
}
