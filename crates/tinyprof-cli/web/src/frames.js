// The layout of a flame graph: a frame for each callpath, as wide as its time.

/**
 * Returns the time of a callpath over the ranks: `mean` or `max`, in nanoseconds; 0 if no rank
 * visited.
 */
export function timeOf(callpath, kind, over) {
  const spread = kind === "exclusive" ? callpath.exclusive_ns : callpath.inclusive_ns;
  return spread ? spread[over] : 0;
}

/**
 * Returns the width of callpaths over all ranks (`mean`: the sum, so that the parts add up even if
 * some ranks did not visit them), on the slowest rank of each (`max`), or on one (`rank`).
 */
export function widthOver(profile, over, rank) {
  return {
    mean: (callpath) => callpath.inclusive_ns?.sum ?? 0,
    max: (callpath) => timeOf(callpath, "inclusive", "max"),
    rank: (callpath) => profile.timeOnRank(callpath.row, rank, "inclusive") || 0,
  }[over];
}

/**
 * Returns the frames of the callpaths below `roots` by row of the table, with positions between 0
 * and 1 in `x0` and `x1`. `width(callpath)` is its time. `order(a, b)` compares siblings; without it
 * the costliest come first. `total` of the result is the time of the whole width.
 *
 * Maxima of several ranks need not add up: a frame is then as wide as those above it.
 */
export function frames(roots, width, order) {
  const top = { children: roots };
  const tree = d3.hierarchy(top).sum((callpath) => {
    if (callpath === top) return 0;
    const below = callpath.children.reduce((sum, child) => sum + width(child), 0);
    return Math.max(0, width(callpath) - below);
  });
  tree.sort((a, b) => (order ? order(a.data, b.data) : b.value - a.value));
  d3.partition()(tree);
  const found = new Map();
  found.total = tree.value;
  tree.each((node) => {
    if (node.data !== top) found.set(node.data.row, { callpath: node.data, depth: node.depth - 1, x0: node.x0, x1: node.x1 });
  });
  return found;
}
