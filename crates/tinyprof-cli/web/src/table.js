// Tables whose columns sort, and whose numbers are copied unrounded.

import { element } from "./elements.js";

/**
 * Returns a heading that sorts. `direction` is `ascending` or `descending` if the table is sorted
 * by it, else null.
 */
export function sortHeading(title, direction, onSort) {
  const heading = element("th", { scope: "col", "aria-sort": direction ?? undefined, "data-title": title });
  const sign = { ascending: " ▴", descending: " ▾" }[direction] ?? "";
  heading.append(element("button", { type: "button", className: "link", textContent: title, onclick: onSort }), element("span", { "aria-hidden": "true", textContent: sign }));
  return heading;
}

/**
 * Makes the headings of a table sort its rows: numbers from the greatest, text from A, and the
 * other way round with the next click. `state` keeps the order for a table that is made anew.
 */
export function sortable(table, state = {}) {
  const head = table.tHead.rows[0];
  const titles = [...head.cells].map((heading) => heading.textContent);
  const rows = [...table.tBodies[0].rows];
  const isNumeric = (column) => rows.some((row) => row.cells[column].dataset.exact !== undefined);
  const draw = () => {
    const headings = titles.map((title, column) => {
      if (title === "") return element("th", { scope: "col" });
      const onSort = () => {
        const usual = isNumeric(column) ? "descending" : "ascending";
        const other = usual === "descending" ? "ascending" : "descending";
        state.direction = state.column === column && state.direction === usual ? other : usual;
        state.column = column;
        draw();
        head.cells[column].querySelector("button").focus();
      };
      return sortHeading(title, state.column === column ? state.direction : null, onSort);
    });
    head.replaceChildren(...headings);
    if (state.column !== undefined) table.tBodies[0].replaceChildren(...sorted(rows, state, isNumeric(state.column)));
  };
  draw();
  return table;
}

/** Cells without a number come last in both directions. */
function sorted(rows, { column, direction }, isNumeric) {
  const sign = direction === "ascending" ? 1 : -1;
  const keyOf = (row) => {
    const cell = row.cells[column];
    return isNumeric ? Number(cell.dataset.exact ?? NaN) : wordsOf(cell);
  };
  const compare = (a, b) => (a < b ? -sign : a > b ? sign : 0);
  const keyed = rows.map((row) => [keyOf(row), row]);
  keyed.sort(([a], [b]) => (a !== a) - (b !== b) || compare(a, b));
  return keyed.map(([, row]) => row);
}

/** Puts the numbers of copied cells into the clipboard unrounded, tables as columns with tabs. */
export function startCopying() {
  document.addEventListener("copy", (event) => {
    const chosen = getSelection();
    const text = chosen.rangeCount > 0 && !chosen.isCollapsed ? copied(chosen.getRangeAt(0)) : null;
    if (text === null) return;
    event.clipboardData.setData("text/plain", text);
    event.preventDefault();
  });
}

function copied(range) {
  const { commonAncestorContainer: node } = range;
  const inside = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
  const number = inside.closest("[data-exact]");
  if (number) return number.dataset.exact;
  const table = inside.closest("table") ?? (inside.querySelectorAll("table").length === 1 ? inside.querySelector("table") : null);
  if (!table || inside.closest("th, td")) return null;
  const isChosen = (part) => range.intersectsNode(part);
  const lines = [...table.rows].filter(isChosen).map((row) => [...row.cells].filter(isChosen).map((cell) => cellText(cell, table)).join("\t"));
  return lines.join("\n");
}

function cellText(cell, table) {
  if (cell.dataset.exact !== undefined) return cell.dataset.exact;
  if (cell.dataset.title !== undefined) {
    const unit = table.tBodies[0].rows[0]?.cells[cell.cellIndex]?.dataset.unit;
    return unit ? `${cell.dataset.title} [${unit}]` : cell.dataset.title;
  }
  return wordsOf(cell);
}

/** Returns the parts of a cell that are read out. */
function wordsOf(cell) {
  const parts = [...cell.childNodes].filter((part) => part.getAttribute?.("aria-hidden") !== "true");
  return parts.map((part) => part.textContent.trim()).filter(Boolean).join(" ");
}
