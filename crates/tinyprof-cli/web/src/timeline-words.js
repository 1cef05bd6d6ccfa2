// What the time line says: names of lanes, lines about visits, and what is not shown.

import { around, leftOutIn, length } from "./timeline-lanes.js";
import { counted, data, percent, time } from "./numbers.js";
import { moment } from "./timeline-axis.js";
import { shown } from "./names.js";

/** Returns a part of the run in words. */
export function rangeWords({ from, to }) {
  return `${moment(from, (to - from) / 1000)} to ${moment(to, (to - from) / 1000)}, ${time(Math.round(to - from))} long`;
}

/** The most messages of a visit that are told one by one. */
const MESSAGES_TOLD = 3;

export class TimelineWords {
  constructor(profile, lanes, messages) {
    this.profile = profile;
    this.data = profile.timeline;
    this.lanes = lanes;
    this.messages = messages;
  }

  laneName({ rank, thread, stands_for: ranks }) {
    const isFirst = this.lanes.find((lane) => lane.rank === rank).thread === thread;
    if (!isFirst) return `thread ${thread}`;
    return ranks > 1 ? `rank ${rank} (of ${ranks})` : `rank ${rank}`;
  }

  /** Returns what is shown and what is not, where at most `lines` messages are drawn. */
  noteText(lines) {
    const { left_out: leftOut, shortest_ns: shortest, ranks_omitted: ranks, threads_omitted: threads, hosts } = this.data;
    const visits = this.lanes.reduce((sum, lane) => sum + lane.begins.length, 0);
    const lost = this.lanes.reduce((sum, lane) => sum + lane.lost, 0);
    const words = [`${counted(visits, "visit")} in ${counted(this.lanes.length, "lane")}. What is narrower than a pixel is added up: zoom in with plus, or by drawing a part with the pointer.`];
    const { length: messages } = this.messages;
    if (messages > 0) words.push(`${counted(messages, "message")} between lanes, drawn as lines where at most ${lines} are in view.`);
    const { left_out: others } = this.data.messages;
    if (others > 0) words.push(`${counted(others, "message")} that took less time ${others === 1 ? "is" : "are"} not in this page.`);
    if (leftOut > 0) words.push(`${counted(leftOut, "visit")} shorter than ${time(shortest)} ${leftOut === 1 ? "is" : "are"} in this page only as ${leftOut === 1 ? "a sum" : "sums"}: tinyprof timeline --window shows a part of the run in full.`);
    if (lost > 0) words.push(`${counted(lost, "visit")} of these lanes were not kept, as memory was full.`);
    if (ranks > 0) words.push(`${counted(ranks, "rank")} ${ranks === 1 ? "is" : "are"} represented by others.`);
    if (threads > 0) words.push(`${counted(threads, "thread")} ${threads === 1 ? "is" : "are"} not shown.`);
    if (hosts > 1) words.push(`The clocks of the ${hosts} hosts were not compared: each begins with its first rank.`);
    return words.join(" ");
  }

  /** Returns the lines about a visit. */
  lines(lane, at) {
    const { name, row } = this.data.callpaths[lane.callpaths[at]];
    const path = around(lane, at).map((outer) => shown(this.data.callpaths[lane.callpaths[outer]].name));
    return [
      shown(name),
      this.#laneWords(lane),
      `${time(length(lane, at))}, from ${moment(lane.begins[at], 1)} on`,
      path.length > 1 ? `in ${path.slice(0, -1).join(" › ")}` : null,
      row === null ? null : this.#shareWords(row, length(lane, at)),
      ...this.#messageWords(lane, at),
      ...this.#waitWords(lane, lane.callpaths[at]),
    ];
  }

  #laneWords({ rank, thread, stands_for: ranks }) {
    const alone = this.lanes.filter((lane) => lane.rank === rank).length === 1;
    const words = alone ? this.profile.rankText(rank) : `${this.profile.rankText(rank)}, thread ${thread}`;
    return ranks > 1 ? `${words}, for ${ranks} ranks like it` : words;
  }

  /** Compares a visit with the usual one of its callpath. */
  #shareWords(row, ns) {
    const { inclusive_ns: spread, visits } = this.profile.callpaths[row];
    if (!spread || visits === 0) return null;
    const mean = spread.sum / visits;
    return `mean of all ${counted(visits, "visit")}: ${time(Math.round(mean))}${mean > 0 ? `; this one ${(ns / mean).toPrecision(2)} times` : ""}`;
  }

  /** Tells the messages that a call has sent and received. */
  #messageWords(lane, at) {
    if (!this.data.callpaths[lane.callpaths[at]].is_call) return [];
    const isWithin = (number, ns) => number === lane.number && ns >= lane.begins[at] && ns <= lane.ends[at];
    const own = this.messages.filter(({ from, to, sent, received }) => isWithin(from, sent) || isWithin(to, received));
    const told = own.slice(0, MESSAGES_TOLD).map(({ from, to, sent, received, bytes, tag }) => {
      const isSent = isWithin(from, sent);
      const other = this.profile.rankText(this.lanes[isSent ? to : from].rank);
      const took = time(Math.round(received - sent));
      return isSent ? `sent ${data(bytes)} to ${other}, tag ${tag}, received after ${took}` : `received ${data(bytes)} from ${other}, tag ${tag}, sent ${took} before`;
    });
    if (own.length > MESSAGES_TOLD) told.push(`and ${own.length - MESSAGES_TOLD} more`);
    return told;
  }

  /** Tells how much of a call is waiting over the run, and for whom. */
  #waitWords(lane, number) {
    const wait = lane.waits.get(number);
    if (!wait) return [];
    const place = wait.source === null ? "" : ` in ${this.profile.path(wait.source)}`;
    const cause = wait.partner === null ? null : `most for ${this.profile.rankText(wait.partner)}${place}: ${time(wait.most)}`;
    return [`over the run ${percent(wait.share)} of this call on this rank is waiting, ${time(wait.ns)}`, cause];
  }

  /** Tells what is only a sum in the page, of the parts of a lane's time that touch this one. */
  leftOutLines(lane, from, to) {
    const sum = leftOutIn(lane, this.data.from_ns, from, to);
    if (sum === null) return [];
    const { ns, in_calls_ns: inCalls, visits, width_ns: width } = sum;
    return [`${counted(visits, "shorter visit")} ${visits === 1 ? "begins" : "begin"} in the ${time(width)} around here: ${time(ns)}, of which ${time(inCalls)} in calls of MPI`];
  }
}
