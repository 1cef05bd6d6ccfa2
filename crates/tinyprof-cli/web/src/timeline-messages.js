// The messages of the time line: lines from the call that has sent one to the call that has got it.

import { token } from "./theme.js";

/** The most lines that are drawn, and the pixels that each has in a lane: more lines would hide the lanes. */
const LINES_MAX = 1500;
const LINE_PIXELS = 2.5;
/** Of many lanes, those that a message passes are few. */
const LANES_PASSED = 8;

/** Returns the messages of a profile, in the order in which they were sent. */
export function messagesOf(profile) {
  const { timeline } = profile;
  const of = (column) => profile.exact(timeline.messages[column], timeline.at);
  const [from, to, durations, bytes, tags] = ["from", "to", "durations", "bytes", "tags"].map(of);
  let sent = timeline.from_ns;
  return Array.from(of("gaps"), (gap, at) => {
    sent += gap;
    return { from: from[at], to: to[at], sent, received: sent + durations[at], bytes: bytes[at], tag: tags[at] };
  });
}

/** Returns how many messages may be drawn as lines in this width. */
export function mostLines(width, lanes) {
  return Math.min(LINES_MAX, Math.floor((width / LINE_PIXELS) * Math.max(1, lanes / LANES_PASSED)));
}

/** Returns the messages that are under way in a part of the run; null if they are more than may be drawn. */
export function messagesIn(messages, from, to, most) {
  const found = [];
  for (const message of messages) {
    if (message.sent >= to) break;
    if (message.received < from) continue;
    found.push(message);
    if (found.length > most) return null;
  }
  return found;
}

/** Draws messages between the places of their lanes, with a dot where they were received. */
export function drawMessages(context, places, messages, { from, to, left, width, bottom }) {
  const xOf = (ns) => left + ((ns - from) / (to - from)) * width;
  const middle = ({ y, height }) => y + height / 2;
  context.save();
  context.beginPath();
  context.rect(left, 0, width, bottom);
  context.clip();
  context.globalAlpha = 0.7;
  context.lineWidth = 1;
  context.strokeStyle = token("--ink");
  context.fillStyle = token("--ink");
  context.beginPath();
  for (const { from: sender, to: receiver, sent, received } of messages) {
    context.moveTo(xOf(sent), middle(places[sender]));
    context.lineTo(xOf(received), middle(places[receiver]));
  }
  context.stroke();
  context.beginPath();
  for (const { to: receiver, received } of messages) {
    context.moveTo(xOf(received), middle(places[receiver]));
    context.arc(xOf(received), middle(places[receiver]), 2, 0, 2 * Math.PI);
  }
  context.fill();
  context.restore();
}
