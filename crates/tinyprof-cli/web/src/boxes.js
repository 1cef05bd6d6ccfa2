// Boxes: minimum, quartiles and maximum of many values, with outliers as rings; or a dot for each
// value if there are few. uPlot draws the axes and the scale.

import { axes } from "./lines.js";
import { token } from "./theme.js";

/**
 * Returns uPlot's options and data for boxes, of which some may be null. `x` formats the position
 * of a box. `dots` are the times of the ranks in each box, or null; the dots of the rank `selected`
 * are filled.
 */
export function boxPlot(boxes, x, dots, selected) {
  const known = boxes.filter(Boolean);
  const highest = Math.max(1, ...known.map(({ five }) => five[4]));
  const lowest = Math.min(highest, ...known.map(({ five }) => five[0]));
  // If the spread is small compared to the values, the axis begins near the least value, since the
  // spread is of interest then.
  const from = lowest > highest / 2 ? Math.max(0, lowest - (highest - lowest || highest) * 0.25) : 0;
  return {
    data: [boxes.map((_, at) => at), boxes.map((box) => box && box.five[2])],
    options: {
      scales: {
        x: { time: false, range: () => [-0.7, boxes.length - 0.3] },
        y: { range: () => [from, highest + (highest - from) * 0.06] },
      },
      axes: axes("execution", (at) => (Number.isInteger(at) && at >= 0 && at < boxes.length ? x(at) : "")),
      series: [{}, { stroke: "transparent", points: { show: false } }],
      hooks: { draw: [(chart) => (dots ? drawDots(chart, boxes, dots, selected) : drawBoxes(chart, boxes))] },
    },
  };
}

function drawBoxes(chart, boxes) {
  const { ctx } = chart;
  const scale = devicePixelRatio || 1;
  const y = (ns) => chart.valToPos(ns, "y", true);
  const gap = chart.valToPos(1, "x", true) - chart.valToPos(0, "x", true);
  const half = Math.min(28 * scale, gap * 0.32);
  ctx.save();
  ctx.lineWidth = 1.5 * scale;
  ctx.strokeStyle = token("--ink");
  boxes.forEach((box, at) => {
    if (!box) return;
    const x = chart.valToPos(at, "x", true);
    const [, lower, median, upper] = box.five.map(y);
    const [low, high] = box.whiskers.map(y);
    ctx.fillStyle = token("--band");
    ctx.fillRect(x - half, upper, 2 * half, lower - upper);
    ctx.strokeRect(x - half, upper, 2 * half, lower - upper);
    for (const [x0, y0, x1, y1] of [
      [x, lower, x, low],
      [x, upper, x, high],
      [x - half / 2, low, x + half / 2, low],
      [x - half / 2, high, x + half / 2, high],
    ]) line(ctx, x0, y0, x1, y1);
    ctx.strokeStyle = token("--accent");
    ctx.lineWidth = 2.5 * scale;
    line(ctx, x - half, median, x + half, median);
    ctx.strokeStyle = token("--ink");
    ctx.lineWidth = 1.5 * scale;
    for (const [ns] of box.outliers) {
      ctx.beginPath();
      ctx.arc(x, y(ns), 3.5 * scale, 0, 2 * Math.PI);
      ctx.stroke();
    }
  });
  ctx.restore();
}

/** Draws the ranks of each box from left to right, and a line at their median. */
function drawDots(chart, boxes, dots, selected) {
  const { ctx } = chart;
  const scale = devicePixelRatio || 1;
  const gap = chart.valToPos(1, "x", true) - chart.valToPos(0, "x", true);
  const half = Math.min(60 * scale, gap * 0.36);
  ctx.save();
  boxes.forEach((box, at) => {
    if (!box) return;
    const middle = chart.valToPos(at, "x", true);
    ctx.strokeStyle = token("--accent");
    ctx.lineWidth = 2.5 * scale;
    const median = chart.valToPos(box.five[2], "y", true);
    line(ctx, middle - half, median, middle + half, median);
    const times = dots[at];
    times.forEach((ns, rank) => {
      if (ns !== ns) return;
      ctx.beginPath();
      ctx.arc(middle - half + ((rank + 0.5) / times.length) * 2 * half, chart.valToPos(ns, "y", true), (rank === selected ? 5 : 3.5) * scale, 0, 2 * Math.PI);
      ctx.fillStyle = token(rank === selected ? "--own" : "--fill");
      ctx.fill();
      ctx.strokeStyle = token("--ink");
      ctx.lineWidth = scale;
      ctx.stroke();
    });
  });
  ctx.restore();
}

function line(ctx, x0, y0, x1, y1) {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}
