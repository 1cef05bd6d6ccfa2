// Who calls whom: regions at the same depth of the tree as one bar, and bands from callers to what
// they call, as wide as the time that is spent there. All adds up: what comes into a bar is its
// inclusive time, and what does not go on is its exclusive time.

/** The most bars of a column that are drawn by themselves: the rest is one. */
const REGIONS_MAX = 40;

/**
 * Returns the bars of each depth, the costliest callers first, and the bands between them.
 * `width(callpath)` is its time. A bar has its `callpaths`, costliest first, and is `null` in
 * `name` if it joins many small ones.
 */
export function callGraph(roots, width) {
  const columns = [];
  const bands = new Map();
  let level = roots.map((callpath) => ({ callpath, caller: null }));
  while (level.length > 0) {
    const depth = columns.length;
    const bars = joinedRegions(level, width, depth);
    columns.push(bars);
    const barOf = new Map(bars.flatMap((bar) => bar.callpaths.map((callpath) => [callpath.row, bar])));
    for (const { callpath, caller } of level) {
      if (caller === null) continue;
      const bar = barOf.get(callpath.row);
      const key = `${caller.key} ${bar.key}`;
      const band = bands.get(key) ?? { from: caller, to: bar, value: 0 };
      band.value += width(callpath);
      bands.set(key, band);
    }
    level = level.flatMap(({ callpath }) => callpath.children.map((child) => ({ callpath: child, caller: barOf.get(callpath.row) })));
  }
  return { columns, bands: [...bands.values()].filter(({ value }) => value > 0) };
}

/** Joins the callpaths of a level by region, and the smallest regions to one. */
function joinedRegions(level, width, depth) {
  const byName = new Map();
  for (const { callpath } of level) {
    const bar = byName.get(callpath.name) ?? { name: callpath.name, depth, value: 0, callpaths: [] };
    bar.value += width(callpath);
    bar.callpaths.push(callpath);
    byName.set(callpath.name, bar);
  }
  const bars = [...byName.values()].sort((a, b) => b.value - a.value);
  if (bars.length > REGIONS_MAX) {
    const small = bars.splice(REGIONS_MAX - 1);
    const value = small.reduce((sum, bar) => sum + bar.value, 0);
    bars.push({ name: null, depth, value, regions: small.length, callpaths: small.flatMap((bar) => bar.callpaths) });
  }
  bars.forEach((bar, at) => {
    bar.key = `${depth}.${at}`;
    bar.callpaths.sort((a, b) => width(b) - width(a));
  });
  return bars;
}

/**
 * Gives bars `x`, `y0` and `y1`, and bands `y0` and `y1` at both ends. Bars stand in the order of
 * their callers, so that few bands cross; `gap` lies between them. `total` is the time of the whole
 * height.
 */
export function placeCallers({ columns, bands }, size, gap, total) {
  const most = Math.max(...columns.map((bars) => bars.length));
  const scale = Math.max(0, size.height - gap * (most - 1)) / (total || 1);
  const step = size.width / columns.length;
  const into = new Map();
  for (const band of bands) into.set(band.to, [...(into.get(band.to) ?? []), band]);
  for (const [depth, bars] of columns.entries()) {
    const middle = (bar) => {
      const from = into.get(bar) ?? [];
      const weight = from.reduce((sum, band) => sum + band.value, 0);
      return from.reduce((sum, band) => sum + (band.value * (band.from.y0 + band.from.y1)) / 2, 0) / (weight || 1);
    };
    const middles = new Map(bars.map((bar) => [bar, middle(bar)]));
    bars.sort((a, b) => middles.get(a) - middles.get(b) || b.value - a.value);
    let y = 0;
    for (const bar of bars) {
      Object.assign(bar, { x: depth * step, y0: y, y1: y + bar.value * scale });
      y = bar.y1 + gap;
    }
  }
  // Bands leave a bar in the order in which they arrive, and arrive in the order in which they leave.
  const ends = (side, other) => {
    const next = new Map();
    const inOrder = [...bands].sort((a, b) => a[other].y0 - b[other].y0);
    for (const band of inOrder) {
      const y0 = next.get(band[side]) ?? band[side].y0;
      next.set(band[side], y0 + band.value * scale);
      band[`${side}Y`] = [y0, y0 + band.value * scale];
    }
  };
  ends("from", "to");
  ends("to", "from");
}
