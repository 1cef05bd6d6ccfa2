// The colours of changes: those of deviations, for changes that chance does not explain.

import { deviationColor } from "./colors.js";
import { deviation } from "./numbers.js";
import { legend } from "./grid.js";

/** The change with the strongest colour. */
const STRONGEST = 0.5;

/** Returns the packed colour of a row of the comparison. */
export function changeColor(row) {
  if (!row) return deviationColor(0);
  const sides = { new: 1, gone: -1, equal: 0, unclear: 0 };
  return deviationColor(sides[row.verdict] ?? Math.max(-1, Math.min(1, row.change / STRONGEST)));
}

export function changeLegend() {
  const stops = [
    [`${deviation(-STRONGEST)} or gone`, deviationColor(-1)],
    [deviation(-STRONGEST / 2), deviationColor(-0.5)],
    ["no clear change", deviationColor(0)],
    [deviation(STRONGEST / 2), deviationColor(0.5)],
    [`${deviation(STRONGEST)} and more, or new`, deviationColor(1)],
  ];
  return legend("Width: time, one scale for both. Colour: change.", stops);
}
