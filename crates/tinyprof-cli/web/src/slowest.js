// The iterations that took longest on some rank, or had the greatest value of a metric, ranked.

import { element, numberCell, rankButton } from "./elements.js";
import { deviation } from "./numbers.js";
import { select } from "./selection.js";
import { sortable } from "./table.js";

const HEADINGS_OF_TIME = ["Iteration", "Execution", "Slowest", "Its time", "Mean per rank", "Against the usual iteration"];
const HEADINGS_OF_METRIC = ["Iteration", "Execution", "Greatest", "Its value", "Mean per rank", "Against the usual iteration"];

/** Returns the table. `amount(n)` formats a value; `goTo(visit)` shows an iteration in the chart. */
export function slowestTable(profile, series, order, amount, goTo) {
  const { slowest, usual_max: usual, key } = series;
  const unit = key === undefined ? "ns" : undefined;
  const headings = key === undefined ? HEADINGS_OF_TIME : HEADINGS_OF_METRIC;
  const rows = slowest.map(({ visit, execution, rank, max, mean }) => {
    const part = usual > 0 ? max / usual - 1 : null;
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
      numberCell(amount(max), max, unit),
      numberCell(amount(mean), mean, unit),
      numberCell(deviation(part), part),
    );
  });
  const table = element("table", { className: "slowest" });
  const of = profile.report.ranks > 1 ? { time: ", by their slowest rank", metric: " of a rank" } : { time: "", metric: "" };
  table.append(
    element("caption", { textContent: key === undefined ? `The slowest iterations${of.time}` : `The iterations with the greatest values${of.metric}` }),
    element("thead", {}, element("tr", {}, ...headings.map((textContent) => element("th", { scope: "col", textContent })))),
    element("tbody", {}, ...rows),
  );
  return sortable(table, order);
}
