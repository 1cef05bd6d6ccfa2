// The chain of a finding in the lanes of Structure: what its ranks compute, or the calls that they are late in, and the
// calls in which others wait for them.

import { token } from "./theme.js";

/** The most lines from the cause to those who wait. */
const CHAIN_LINES_MAX = 24;

/** Returns the findings of a page whose chain can be drawn, with their numbers. */
export function findingsWithChain(why) {
  return (why?.findings ?? []).map((finding, at) => ({ ...finding, number: at + 1 })).filter(({ chain }) => chain?.length > 0);
}

/** Returns the places of a finding in a layout: `causes` and `waiting`, each with its box. */
export function chainOf(finding, { lanes }, { nodes, work }) {
  if (!finding) return { causes: [], waiting: [] };
  const at = ({ ranks, callpath }) => {
    const own = runsOf(ranks);
    const isOf = lanes.map((lane) => meet(own, runsOf(lane.ranks)));
    return nodes.filter((node) => node.call.callpath === callpath && isOf[node.lane]);
  };
  const waiting = finding.waits ? at(finding.waits) : [];
  // What a rank computes is drawn before the calls of its phase, and the cause is in it or in the call.
  const causes = finding.chain.flatMap(at).map((node) => {
    const computing = work.find(({ number, lane }) => number === node.number && lane === node.lane);
    return computing ? { ...computing, width: node.x + node.width - computing.x } : node;
  });
  return { causes: distinct(causes), waiting: distinct(waiting) };
}

/** Draws frames around the cause and those who wait, and lines between them. */
export function drawChain(context, { causes, waiting }) {
  context.strokeStyle = context.fillStyle = token("--warn");
  const lines = causes.flatMap((cause) => waiting.filter(({ lane }) => lane !== cause.lane).map((node) => [cause, node]));
  context.lineWidth = 1.5;
  context.setLineDash([5, 3]);
  for (const [cause, node] of lines.slice(0, CHAIN_LINES_MAX)) {
    const down = Math.sign(node.lane - cause.lane);
    const [x0, y0] = [cause.x + cause.width / 2, cause.y + (down > 0 ? cause.height : 0)];
    const [x1, y1] = [node.x + node.width / 2, node.y + (down > 0 ? 0 : node.height)];
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1);
    context.stroke();
  }
  for (const { x, y, width, height } of waiting) context.strokeRect(x - 2, y - 2, width + 4, height + 4);
  context.setLineDash([]);
  context.lineWidth = 2.5;
  for (const { x, y, width, height } of causes) context.strokeRect(x - 2.5, y - 2.5, width + 5, height + 5);
}

function distinct(boxes) {
  return [...new Map(boxes.map((box) => [`${box.x} ${box.y}`, box])).values()];
}

/** Returns `0-2,5` as pairs of the first and the last rank. */
function runsOf(ranks) {
  return ranks.split(",").map((run) => {
    const [first, last] = run.split("-").map(Number);
    return [first, last ?? first];
  });
}

function meet(some, others) {
  for (let i = 0, j = 0; i < some.length && j < others.length; ) {
    if (some[i][1] < others[j][0]) i += 1;
    else if (others[j][1] < some[i][0]) j += 1;
    else return true;
  }
  return false;
}
