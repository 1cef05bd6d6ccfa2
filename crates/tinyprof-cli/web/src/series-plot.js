// The lines of a series: mean, band, the selected rank, and the beginnings of executions.

import { font } from "./canvas.js";
import { axes } from "./lines.js";
import { token } from "./theme.js";

/**
 * Returns uPlot's options and data for a series in the columns of `range`. `own` is the line of the
 * selected rank, or null. `x(point)` formats a position, `amount(n)` a value.
 */
export function seriesPlot({ min, mean, max }, own, series, [first, end], x, amount) {
  const line = (color, width, dash) => ({ stroke: color, width, dash, points: { show: mean.length < 3 } });
  const columns = [min, max, mean, ...(own ? [own.numbers] : [])];
  const known = (column) => Array.from(column, (n) => (n === n ? n : null));
  return {
    data: [Array.from(mean, (_, at) => at), ...columns.map(known)],
    options: {
      // A point is in the middle of its column of the map below.
      scales: { x: { time: false, range: () => [first - 0.5, end - 0.5] }, y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.08 : low < 0 ? 0 : 1] } },
      axes: axes("iteration", (point) => (Number.isInteger(point) ? x(point) : ""), amount),
      series: [{}, line(token("--band-line"), 1, [2, 3]), line(token("--band-line"), 1, [6, 3]), line(token("--accent"), 2), ...(own ? [line(token("--own"), 2)] : [])],
      bands: [{ series: [2, 1], fill: token("--band") }],
      hooks: { draw: [(chart) => drawStarts(chart, series.execution_starts)] },
    },
  };
}

/** Draws a line at the start of each execution, and its number where there is room. */
function drawStarts(chart, starts) {
  const { ctx, bbox } = chart;
  const scale = devicePixelRatio || 1;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.strokeStyle = ctx.fillStyle = token("--muted");
  ctx.setLineDash([3, 3]);
  ctx.font = font(scale);
  ctx.textBaseline = "top";
  ctx.textAlign = "left";
  let free = -Infinity;
  const all = starts.length > 0 ? [0, ...starts] : [];
  all.forEach((start, execution) => {
    const left = chart.valToPos(start - 0.5, "x", true);
    ctx.beginPath();
    ctx.moveTo(left, bbox.top);
    ctx.lineTo(left, bbox.top + bbox.height);
    ctx.stroke();
    const text = `execution ${execution}`;
    if (left < free || left + ctx.measureText(text).width < bbox.left) return;
    ctx.fillText(text, left + 4 * scale, bbox.top + 2 * scale);
    free = left + ctx.measureText(text).width + 12 * scale;
  });
  ctx.restore();
}
