// Numbers for people: three significant digits and a unit, as in the terminal.

const TIME_UNITS = [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"], [3.6e12, "h"]];
const DATA_UNITS = [[1, "B"], [1e3, "kB"], [1e6, "MB"], [1e9, "GB"], [1e12, "TB"]];
const BINARY_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const COUNT_UNITS = [[1, ""], [1e6, "M"], [1e9, "G"], [1e12, "T"]];

/** Formats a time in nanoseconds: `1.23 ms`. A missing number is a dash. */
export function time(ns) {
  if (ns === null || ns === undefined || !Number.isFinite(ns)) return "–";
  if (Math.abs(ns) < 1e3) return `${Number.isInteger(ns) ? ns : threeDigits(ns)} ns`;
  // Seconds go up to 10,000, as in the terminal.
  const units = Math.abs(ns) < 1e13 ? TIME_UNITS.slice(0, 4) : TIME_UNITS;
  return inUnits(ns, units);
}

/** Formats a size of data in bytes: `12.3 kB`. */
export function data(bytes) {
  return bytes < 1e3 ? `${bytes} B` : inUnits(bytes, DATA_UNITS);
}

/** Formats 2 to the power of `digits` bytes: `64 KiB`. */
export function binarySize(digits) {
  return `${2 ** (digits % 10)} ${BINARY_UNITS[Math.floor(digits / 10)]}`;
}

/** Formats a count, exact up to six digits. */
export function count(n) {
  return n < 1e6 ? grouped(n) : inUnits(n, COUNT_UNITS);
}

/** Formats a value in a unit of its own: three significant digits. */
export function number(n) {
  if (n === null || n === undefined || !Number.isFinite(n)) return "–";
  const size = Math.abs(n);
  if (Number.isInteger(n) && size < 1e6) return `${n < 0 ? "−" : ""}${grouped(size)}`;
  return (size >= 1e-3 && size < 1e6 ? String(Number(n.toPrecision(3))) : n.toExponential(2)).replace("-", "−");
}

/** Formats a fraction as percent; a positive one is never shown as zero. */
export function percent(part) {
  if (part === null || part === undefined || !Number.isFinite(part)) return "–";
  const percents = part * 100;
  if (percents > 0 && percents < 0.05) return "<0.1 %";
  return `${Math.abs(percents) < 99.95 ? percents.toFixed(1) : percents.toFixed(0)} %`;
}

/** Formats a deviation, with its sign: `+12.3 %`. */
export function deviation(part) {
  if (part === null || !Number.isFinite(part)) return "–";
  return `${part >= 0 ? "+" : "−"}${percent(Math.abs(part)).replace("<", "")}`;
}

/** Returns how far the slowest of the ranks that run a callpath is above their mean; a single one is not above itself. */
export function aboveMean(part, ranks) {
  return deviation(ranks > 1 ? part : null);
}

/** Returns a count with its noun: `1 rank`, `2 ranks`. */
export function counted(n, noun) {
  return `${grouped(n)} ${noun}${n === 1 ? "" : "s"}`;
}

function grouped(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

function inUnits(n, units) {
  let at = 0;
  while (at + 1 < units.length && Math.abs(n) >= units[at + 1][0] * 0.9995) at += 1;
  const [size, unit] = units[at];
  return `${threeDigits(n / size)}${unit ? ` ${unit}` : ""}`.replace("-", "−");
}

function threeDigits(n) {
  const size = Math.abs(n);
  if (size < 9.995) return n.toFixed(2);
  if (size < 99.95) return n.toFixed(1);
  return grouped(n.toFixed(0));
}
