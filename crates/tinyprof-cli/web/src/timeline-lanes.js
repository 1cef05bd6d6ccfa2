// The events of the page: lanes of visits, and what happened in a part of the run.

/** Returns the lanes of a profile, with the visits of each in the order of their begins. */
export function lanesOf(profile) {
  const { timeline } = profile;
  const of = (column, numbers) => profile.exact(column, timeline.at, numbers);
  return timeline.lanes.map((lane, number) => {
    const { count } = lane.gaps;
    // Times replace what they are made of: there are some hundred thousand visits.
    const begins = of(lane.gaps);
    const ends = of(lane.durations);
    let at = timeline.from_ns;
    for (let visit = 0; visit < count; visit += 1) {
      at += begins[visit];
      begins[visit] = at;
      ends[visit] += at;
    }
    const levels = of(lane.depths, new Uint32Array(count));
    let [top, deepest] = [Infinity, 0];
    for (let visit = 0; visit < count; visit += 1) {
      top = Math.min(top, levels[visit]);
      deepest = Math.max(deepest, levels[visit]);
    }
    for (let visit = 0; visit < count; visit += 1) levels[visit] -= top;
    return {
      ...lane,
      number,
      begins,
      ends,
      levels,
      level_count: count > 0 ? deepest - top + 1 : 1,
      callpaths: of(lane.callpaths, new Uint32Array(count)),
      waits: waitsOf(timeline, lane.rank),
      parts: lane.parts && partsOf(lane.parts, of),
    };
  });
}

/** Returns the waiting in calls over the run on a rank, by the number of the callpath. */
function waitsOf(timeline, rank) {
  const numbers = new Map(timeline.callpaths.map(({ row }, number) => [row, number]));
  const own = timeline.waits.filter(([of]) => of === rank);
  return new Map(own.map(([, row, ns, inclusive, partner, source, most]) => [numbers.get(row), { ns, share: Math.min(1, ns / Math.max(1, inclusive)), partner, source, most }]));
}

/** Returns the end of the set-up of MPI, and of everything else; null without a set-up. */
export function afterSetUp(profile, lanes) {
  const isSetUp = profile.timeline.callpaths.map(({ row }) => row !== null && profile.callpaths[row].activity === "INIT");
  if (!isSetUp.includes(true)) return null;
  let [from, to] = [0, 0];
  for (const { callpaths, ends } of lanes) {
    for (let at = 0; at < ends.length; at += 1) {
      if (isSetUp[callpaths[at]]) from = Math.max(from, ends[at]);
      else to = Math.max(to, ends[at]);
    }
  }
  return from > 0 && to > from ? { from, to } : null;
}

function partsOf(parts, of) {
  return { width_ns: parts.width_ns, visits: of(parts.visits), times: of(parts.times), in_calls: of(parts.in_calls) };
}

/** Returns the number of visits that begin before a time. */
export function visitsBefore(lane, ns) {
  let [low, high] = [0, lane.begins.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.begins[middle] < ns) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Calls `visit(at)` for each visit of a lane that is in a part of the run, in their order. */
export function eachIn(lane, from, to, visit) {
  const until = visitsBefore(lane, to);
  for (let at = 0; at < until; at += 1) if (lane.ends[at] >= from) visit(at);
}

/** Returns the innermost visit at a time, at most at a level; null if there is none. */
export function innermostAt(lane, from, to, level = Infinity) {
  let found = null;
  eachIn(lane, from, to, (at) => {
    if (lane.levels[at] > level || lane.begins[at] >= to) return;
    // Of several that share a pixel, the longest is the one to tell.
    const isDeeper = found === null || lane.levels[at] > lane.levels[found];
    const isLonger = found !== null && lane.levels[at] === lane.levels[found] && length(lane, at) > length(lane, found);
    if (isDeeper || isLonger) found = at;
  });
  return found;
}

export function length(lane, at) {
  return lane.ends[at] - lane.begins[at];
}

/** Returns the visits of a lane around a visit, the outermost first, and the visit. */
export function around(lane, at) {
  const found = [at];
  for (let before = at - 1; before >= 0 && lane.levels[found[0]] > 0; before -= 1) {
    if (lane.levels[before] < lane.levels[found[0]] && lane.ends[before] >= lane.begins[at]) found.unshift(before);
  }
  return found;
}

/**
 * Returns what was left out of a lane in the parts of its time that touch a part of the run: visits,
 * their time, and how long those parts are; null if nothing was.
 */
export function leftOutIn(lane, origin, from, to) {
  if (!lane.parts) return null;
  const { width_ns: width, visits, times, in_calls: inCalls } = lane.parts;
  const sum = { visits: 0, ns: 0, in_calls_ns: 0, width_ns: 0 };
  const first = Math.max(0, Math.floor((from - origin) / width));
  for (let part = first; part < visits.length && origin + part * width < to; part += 1) {
    sum.visits += visits[part];
    sum.width_ns += width;
    sum.ns += times[part];
    sum.in_calls_ns += inCalls[part];
  }
  return sum.visits > 0 || sum.ns > 0 ? sum : null;
}

/**
 * Returns the visits of each callpath in a part of the run, the costliest first: their number, the
 * time in them and not in visits inside them, and the longest.
 */
export function sumsIn(lanes, from, to) {
  const sums = [];
  for (const lane of lanes) {
    const { begins, ends, levels, callpaths } = lane;
    // The sum of the visit that is open at each level; visits of a lane are in the order of their begins.
    const open = [];
    const until = visitsBefore(lane, to);
    for (let at = 0; at < until; at += 1) {
      const begin = begins[at];
      const end = ends[at];
      const level = levels[at];
      if (end < from) continue;
      const within = Math.max(0, Math.min(end, to) - Math.max(begin, from));
      const sum = (sums[callpaths[at]] ??= { callpath: callpaths[at], visits: 0, ns: 0, lane: null, longest: null, longest_ns: -1 });
      sum.visits += 1;
      sum.ns += within;
      if (end - begin > sum.longest_ns) {
        sum.longest_ns = end - begin;
        sum.lane = lane;
        sum.longest = at;
      }
      const above = outside(open, level);
      if (above) above.ns -= within;
      open.length = level;
      open[level] = sum;
    }
  }
  return sums.filter(Boolean).sort((a, b) => b.ns - a.ns);
}

/** Returns the innermost of what is open above a level. */
function outside(open, level) {
  for (let at = Math.min(level, open.length) - 1; at >= 0; at -= 1) if (open[at]) return open[at];
  return undefined;
}
