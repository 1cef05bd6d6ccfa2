// The place in the page as its address: the view, the callpath and the rank. So the Back button, a
// reload and a link that is sent lead to it.

import { onSelection, select, selection } from "./selection.js";

/** A longer path is written as the number of its row: browsers limit the length of addresses. */
const PATH_MAX = 1500;

/** Returns a place as the part of the address after the page's name: `#view=tree&callpath=main/a`. */
export function addressOf(profile, { view, callpath, rank }) {
  const parts = [`view=${view}`];
  if (callpath !== null) parts.push(`callpath=${pathText(profile, callpath)}`);
  if (rank !== null) parts.push(`rank=${rank}`);
  return `#${parts.join("&")}`;
}

/** Returns the place of an address. What the profile does not have is null. */
export function placeOf(profile, address) {
  const parts = new Map(address.replace(/^#/, "").split("&").map((part) => part.split("=", 2)));
  const rank = /^\d+$/.test(parts.get("rank") ?? "") ? Number(parts.get("rank")) : null;
  return {
    view: parts.get("view") ?? null,
    callpath: parts.has("callpath") ? rowOf(profile, parts.get("callpath")) : null,
    rank: rank !== null && rank < profile.host_of_rank.length ? rank : null,
  };
}

/** Returns the names of a path. The second of two siblings of one name has `~2` behind it. */
function pathText(profile, row) {
  const parts = [];
  for (let at = row; at !== null; at = profile.callpaths[at].parent) {
    const { name, parent } = profile.callpaths[at];
    const siblings = parent === null ? profile.roots : profile.callpaths[parent].children;
    const number = siblings.filter((sibling) => sibling.name === name).findIndex((sibling) => sibling.row === at) + 1;
    parts.push(encodeURIComponent(name).replace(/~/g, "%7E") + (number > 1 ? `~${number}` : ""));
  }
  const text = parts.reverse().join("/");
  return text.length > PATH_MAX ? `~${row}` : text;
}

function rowOf(profile, text) {
  if (/^~\d+$/.test(text)) return profile.callpaths[Number(text.slice(1))]?.row ?? null;
  let [list, found] = [profile.roots, null];
  for (const part of text.split("/")) {
    const [name, number = "1"] = part.split("~");
    found = list.filter((callpath) => callpath.name === decoded(name))[Number(number) - 1];
    if (!found) return null;
    list = found.children;
  }
  return found.row;
}

/** Returns the text of a percent-encoded name; null if it is none. */
function decoded(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return null;
  }
}

/**
 * Goes to the place of the address, or to the view `first`, and keeps the address up to date. Each
 * change is a step of the Back button, except those by arrow keys within a view.
 */
export function keepPlace(profile, tabs, first) {
  let [isReading, isWaiting, byArrows] = [false, false, false];
  const view = (address) => placeOf(profile, address).view;
  const write = () => {
    isWaiting = false;
    const address = addressOf(profile, { view: tabs.current, ...selection() });
    const isSmall = isReading || (byArrows && view(location.hash) === tabs.current);
    isReading = false;
    if (address !== location.hash) history[isSmall ? "replaceState" : "pushState"](null, "", address);
  };
  // A hint selects and opens a view: that is one step.
  const soon = () => {
    if (!isWaiting) queueMicrotask(write);
    isWaiting = true;
  };
  const read = () => {
    isReading = true;
    const { view: wanted, callpath, rank } = placeOf(profile, location.hash);
    select({ callpath, rank });
    tabs.show(tabs.has(wanted) ? wanted : first);
  };
  addEventListener("keydown", ({ key }) => (byArrows = key.startsWith("Arrow")), true);
  addEventListener("pointerdown", () => (byArrows = false), true);
  addEventListener("popstate", read);
  tabs.onShow = soon;
  onSelection(soon);
  read();
}
