// The drawing of phases from left to right, with a lane for each class of ranks: its computing and
// its calls, as wide as their time in one scale, and messages between them.

import { font, letterHeight } from "./canvas.js";
import { fitted, fittedRanks, shown } from "./names.js";
import { drawChain } from "./chain.js";
import { token } from "./theme.js";

/** The fewest letters that still tell a call. */
const WORD = 6;
const labelWidth = () => 9 * letterHeight();
const topHeight = () => letterHeight() + 14;
const GAP = 2;
const PHASE_GAP = 14;
const NODE_MIN = 5;
const PHASE_MIN = 48;
/** The most messages that are drawn: those with the greatest numbers. */
const DRAWN_MAX = 300;
const CURVE_STEPS = 24;

/** Returns the places of all nodes in a box of this width. */
export function placed(structure, width) {
  const { lanes, phases } = structure;
  const laneHeight = Math.max(26, Math.min(92, Math.round(460 / Math.max(1, lanes.length))));
  const nodeHeight = Math.round(Math.min(30, laneHeight * 0.56));
  const left = Math.min(labelWidth(), width * 0.3);
  const top = topHeight();
  const room = Math.max(60, width - left - PHASE_GAP * phases.length);
  const classTime = ({ calls, computing_ns: computing }) => calls.reduce((sum, call) => sum + call.ns, computing);
  const longest = phases.map(({ classes }) => Math.max(1, ...classes.map(classTime)));
  const fewest = phases.map(({ classes }) => Math.max(PHASE_MIN, (1 + Math.max(1, ...classes.map(({ calls }) => calls.length))) * (NODE_MIN + GAP)));
  const spare = Math.max(0, room - fewest.reduce((a, b) => a + b, 0));
  const scale = spare / longest.reduce((a, b) => a + b, 0);
  const nodes = [];
  const work = [];
  const areas = [];
  let x = left;
  phases.forEach((phase, number) => {
    const area = { phase, x, width: fewest[number] + longest[number] * scale };
    areas.push(area);
    for (const one of phase.classes) {
      for (const lane of one.lanes) {
        const y = top + (lane + 0.5) * laneHeight - nodeHeight / 2;
        const computing = one.computing_ns * scale;
        if (one.computing_ns > 0) work.push({ number, lane, x, y, width: computing, height: nodeHeight });
        let at = x + computing + GAP;
        one.calls.forEach((call) => {
          const wide = NODE_MIN + call.ns * scale;
          nodes.push({ phase, number, lane, call, of: one, x: at, y, width: wide, height: nodeHeight });
          at += wide + GAP;
        });
      }
    }
    x += area.width + PHASE_GAP;
  });
  nodes.sort((a, b) => a.lane - b.lane || a.x - b.x);
  return { nodes, work, areas, left, laneHeight, height: top + lanes.length * laneHeight + 8, width: Math.max(width, x) };
}

/** Returns the ways of the messages with the greatest numbers, as points. */
export function ways(structure, { nodes, laneHeight }, measure) {
  const of = new Map(nodes.map((node) => [`${node.lane} ${node.call.node}`, node]));
  const found = [];
  for (const message of [...structure.messages].filter((one) => one[measure] > 0).sort((a, b) => b[measure] - a[measure])) {
    const [from, to] = [of.get(`${message.from} ${message.from_node}`), of.get(`${message.to} ${message.to_node}`)];
    if (!from || !to) continue;
    found.push({ message, from, to, points: curve(from, to, laneHeight) });
    if (found.length === DRAWN_MAX) break;
  }
  return found;
}

/** Returns the points of a curve between two nodes; in one lane it is an arc above. */
function curve(from, to, laneHeight) {
  const down = Math.sign(to.lane - from.lane);
  const side = (node, sign) => node.y + (sign > 0 ? node.height : sign < 0 ? 0 : 0);
  const [x0, y0] = [from.x + from.width / 2, side(from, down)];
  const [x1, y1] = [to.x + to.width / 2, side(to, -down)];
  const bend = down === 0 ? -laneHeight * 0.32 : 0;
  const middle = (y0 + y1) / 2 + bend;
  return Array.from({ length: CURVE_STEPS + 1 }, (_, step) => {
    const t = step / CURVE_STEPS;
    const u = 1 - t;
    const mix = (a, b, c, d) => u * u * u * a + 3 * u * u * t * b + 3 * u * t * t * c + t * t * t * d;
    return [mix(x0, x0, x1, x1), down === 0 ? mix(y0, middle + bend, middle + bend, y1) : mix(y0, middle, middle, y1)];
  });
}

/** Draws lanes, phases, messages and nodes, and the `chain` of a finding. `chosen` and `isSelected(call)` are framed. */
export function drawLanes(context, structure, layout, found, { measure, chosen, isSelected, chain }) {
  const { areas, left, laneHeight, height, nodes, work } = layout;
  context.font = font();
  context.textBaseline = "middle";
  const top = topHeight();
  structure.lanes.forEach(({ ranks }, lane) => {
    const y = top + lane * laneHeight;
    context.fillStyle = lane % 2 === 0 ? token("--track") : token("--card");
    for (const { x, width } of areas) context.fillRect(x - 4, y, width + 6, laneHeight);
    context.fillStyle = token("--ink");
    context.textAlign = "right";
    context.fillText(fittedRanks(context, ranks, left - 16), left - 10, y + laneHeight / 2);
  });
  context.textAlign = "left";
  for (const { phase, x, width } of areas) {
    context.fillStyle = token("--muted");
    // Of a narrow phase the number, by which the table below names it.
    const name = `${phase.number} ${shown(phase.name)}`;
    context.fillText(fitted(context, name, width + 4, `${phase.number}`.length + WORD) || phase.number, x - 4, top / 2);
    context.fillStyle = token("--rule");
    context.fillRect(x - 8, 4, 1, height - 8);
  }
  const greatest = found.reduce((most, { message }) => Math.max(most, message[measure]), 1);
  for (const { message, points } of [...found].reverse()) drawWay(context, points, message[measure] / greatest, laneHeight);
  for (const one of work) drawComputing(context, one);
  for (const node of nodes) drawNode(context, node);
  drawChain(context, chain);
  for (const node of nodes) {
    if (node !== chosen && !isSelected(node.call)) continue;
    for (const [color, line] of [[token("--paper"), 4], [node === chosen ? token("--ink") : token("--accent"), 2]]) {
      context.strokeStyle = color;
      context.lineWidth = line;
      context.strokeRect(node.x - 1, node.y - 1, node.width + 2, node.height + 2);
    }
  }
}

/** Draws what a class computes in a phase, all of it before its calls. */
function drawComputing(context, { x, y, width, height }) {
  context.fillStyle = token("--comp");
  context.fillRect(x, y, Math.max(1, width), height);
  if (width < 34 || height < 15) return;
  context.fillStyle = token("--frame-ink");
  context.textAlign = "left";
  context.fillText(fitted(context, "computing", width - 8, Infinity), x + 4, y + height / 2);
}

/** Draws a node; at its lower edge is the part until partners came. */
function drawNode(context, { call, x, y, width, height }) {
  context.fillStyle = token("--comm");
  context.fillRect(x, y, width, height);
  const waiting = call.ns > 0 ? Math.min(1, call.waiting_ns / call.ns) * width : 0;
  context.fillStyle = token("--warn");
  const edge = Math.max(2, Math.round(height / 6));
  context.fillRect(x, y + height - edge, waiting, edge);
  if (width < 34 || height < 15) return;
  context.fillStyle = token("--frame-ink");
  context.textAlign = "left";
  context.fillText(fitted(context, shown(call.function).replace(/^MPI_/, ""), width - 8, WORD), x + 4, y + (height - edge) / 2 + 1);
}

function drawWay(context, points, part, laneHeight) {
  // Where lanes are low there are many, and thick lines would hide each other.
  const room = Math.min(1, laneHeight / 70);
  context.globalAlpha = 0.35 + 0.5 * part * room;
  context.strokeStyle = context.fillStyle = token("--accent");
  context.lineWidth = 0.8 + 5 * part * room * room;
  context.beginPath();
  points.forEach(([x, y], at) => (at === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
  context.stroke();
  const [[x0, y0], [x, y]] = points.slice(-3);
  const angle = Math.atan2(y - y0, x - x0);
  const size = (5 + 3 * part) * Math.max(0.6, room);
  context.beginPath();
  context.moveTo(x, y);
  for (const turn of [2.6, -2.6]) context.lineTo(x + size * Math.cos(angle + turn), y + size * Math.sin(angle + turn));
  context.fill();
  context.globalAlpha = 1;
}
