// Names of the measured program. They are not trusted: they are inserted into the page only as
// text, with invisible and reordering characters spelled out.

// Controls, formats (bidirectional ones, zero width), surrogates, private and unassigned
// characters, line separators, marks.
const HAZARDOUS = /[\p{C}\p{Zl}\p{Zp}\p{M}]/gu;
const NAME_MAX = 200;

/**
 * Returns a name for display: quoted if it would otherwise be invisible, and shortened in the
 * middle if it is very long.
 */
export function shown(name) {
  const characters = Array.from(String(name));
  const half = NAME_MAX / 2;
  const short =
    characters.length > NAME_MAX ? `${characters.slice(0, half).join("")}…${characters.slice(-half).join("")}` : String(name);
  const escaped = short.replace(HAZARDOUS, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
  return escaped === "" || escaped.trim() !== escaped ? `"${escaped}"` : escaped;
}

// A name with a place, such as `exchange (halo.c:41)`. The line says more than the file.
const PLACED = /^(.*) \([^()]*:(\d+)\)$/;

/**
 * Returns `text`, shortened so that `context` draws it in `width` pixels: as the command does, of a
 * place the line alone is kept, and then the middle is left out.
 */
export function fitted(context, name, width, least = 2) {
  if (context.measureText(name).width <= width) return name;
  const text = name.replace(PLACED, "$1:$2");
  if (context.measureText(text).width <= width) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(shortened(text, middle)).width <= width) low = middle;
    else high = middle - 1;
  }
  return low < least ? "" : shortened(text, low);
}

/** Returns a list of ranks, `0-3,7,9…`, so that `context` draws it in `width` pixels; no number is cut. */
export function fittedRanks(context, ranks, width) {
  const runs = ranks.split(",");
  for (let kept = runs.length; kept > 0; kept -= 1) {
    const text = `${runs.slice(0, kept).join(",")}${kept < runs.length ? "…" : ""}`;
    if (context.measureText(text).width <= width) return text;
  }
  return fitted(context, ranks, width);
}

function shortened(text, length) {
  const head = Math.ceil(length / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (length - head))}`;
}

/** Returns the words for the ranks that a call waits for, as `tinyprof report` tells them; empty for none. */
export function waitsWords(ranks) {
  if (!ranks) return "";
  if (ranks === "many") return "waits, for many ranks";
  return `waits, most for ${/[-,]/.test(ranks) ? "ranks" : "rank"} ${ranks}`;
}
