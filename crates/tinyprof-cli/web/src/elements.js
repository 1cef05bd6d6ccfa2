// Elements of the page. Text is always inserted as text: nothing in these modules parses HTML.

import { count, percent, time } from "./numbers.js";
import { onSelection, select, selection } from "./selection.js";
import { waitsWords } from "./names.js";

/**
 * Returns an element with these properties (those with a dash are attributes) and children
 * (elements or text).
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key.includes("-") || key === "role" || key === "for" || key === "scope") made.setAttribute(key, value);
    else made[key] = value;
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** Returns a name of the measured program, isolated from the direction of the surrounding text. */
export function nameElement(text, className = "name") {
  return element("bdi", { className, textContent: text, title: text });
}

/** Returns a sentence as text and elements: what is between backticks is a command. */
export function sentence(text) {
  return text.split("`").map((part, at, all) => (at % 2 === 1 && at < all.length - 1 ? element("code", { textContent: part }) : part));
}

/**
 * Returns a number in a table: shown as `text`, with the exact number for programs that read the
 * page.
 */
export function numberCell(text, exact, unit) {
  return element("td", { className: "number", textContent: text, "data-exact": exact === null ? undefined : String(exact), "data-unit": unit });
}

/** Returns a cell with a time in nanoseconds; `mark` precedes it. */
export function timeCell(ns, mark = "") {
  return numberCell(mark + time(ns), Number.isFinite(ns) ? ns : null, "ns");
}

/**
 * Returns a cell with the mean of a time over the `visited` ranks. If others never run it, their
 * number and the mean over all ranks follow.
 */
export function meanCell(spread, visited, all, mark = "") {
  const cell = timeCell(spread?.mean, mark);
  if (spread && visited < all) cell.append(element("span", { className: "path", textContent: `${time(spread.sum / all)} ${overAll(visited, all)}` }));
  return cell;
}

/** Returns the phrase for a mean over ranks of which some never run a callpath. */
export function overAll(visited, all) {
  const never = all - visited;
  return `over all ${count(all)} ranks, ${count(never)} never ${never === 1 ? "runs" : "run"} it`;
}

/** Returns a cell with a share, as a bar relative to `full` and as `text`. */
export function shareCell(part, full, text) {
  const bar = element("span", { className: "bar-fill" });
  bar.style.width = `${Math.min(100, (part / (full || 1)) * 100)}%`;
  const track = element("span", { className: "bar-track", "aria-hidden": "true" }, bar);
  return element("td", { className: "share", "data-exact": String(part) }, track, element("span", { className: "share-number", textContent: text }));
}

/** Returns the share of a time as text. Start-up takes time, but has no share: it is besides what shares refer to. */
export function shareText(share, ns) {
  return percent(share === 0 && ns > 0 ? null : share);
}

/** Returns a group of buttons of which one is pressed. `choices` are pairs of key and text. */
export function choice(label, choices, chosen, onChoose) {
  const buttons = choices.map(([key, text]) =>
    element("button", { type: "button", textContent: text, "aria-pressed": String(key === chosen), onclick: () => choose(key) }),
  );
  function choose(key) {
    choices.forEach(([own], at) => buttons[at].setAttribute("aria-pressed", String(own === key)));
    onChoose(key);
  }
  return element("div", { className: "choice", role: "group", "aria-label": label }, element("span", {}, label), ...buttons);
}

/** Returns a selection list. `options` are pairs of value and text. */
export function picker(label, options, chosen, onChoose) {
  const list = element("select", { onchange: () => onChoose(list.value) });
  list.append(...options.map(([value, textContent]) => element("option", { value, textContent })));
  list.value = chosen;
  return element("label", { className: "picker" }, element("span", {}, label), list);
}

/** Returns a part of a page, with a heading. */
export function card(title, content, className = "") {
  return element("section", { className: `card ${className}` }, element("h2", { textContent: title }), content);
}

/** Returns a large number with its meaning; `exact` is the number unrounded, if it is one. */
export function figureElement([figure, words, exact]) {
  return element(
    "div",
    { className: "figure" },
    element("span", { className: "figure-number", textContent: figure, "data-exact": exact?.toString() }),
    element("bdi", { className: "figure-words", textContent: words, title: words }),
  );
}

/** Returns a sentence to show if there is nothing to draw. */
export function nothing(text) {
  return element("p", { className: "nothing", textContent: text });
}

/** Returns a button that selects a rank. */
export function rankButton(profile, rank) {
  const isSelected = selection().rank === rank;
  return element("button", { type: "button", className: "link", "aria-pressed": String(isSelected), onclick: () => select({ rank }) }, element("bdi", {}, profile.rankText(rank)));
}

/** Returns a field for the number of the selected rank; empty selects none. */
export function rankField(profile) {
  const { rank } = selection();
  const last = profile.host_of_rank.length - 1;
  const field = element("input", { type: "number", min: 0, max: last, value: rank ?? "", placeholder: "all", className: "rank-field" });
  field.onchange = () => select({ rank: field.value === "" ? null : Math.max(0, Math.min(last, Math.trunc(Number(field.value)))) });
  onSelection(() => (field.value = selection().rank ?? ""));
  return element("label", { className: "picker" }, element("span", {}, "Rank"), field);
}

/** Returns a button that shows a callpath's name and selects it. */
export function callpathButton(text, onclick) {
  return element("button", { type: "button", className: "link", onclick }, nameElement(text));
}

/** Returns for whom a call waits, to stand below its slowest rank, which has only waited longest; null if it does not. */
export function waitsElement(ranks) {
  const words = waitsWords(ranks);
  return words === "" ? null : element("span", { className: "path", textContent: words, title: words });
}
