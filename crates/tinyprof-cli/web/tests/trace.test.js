// What the engine of Chrome's own performance panel makes of `tinyprof export --to chrome`: the trees of slices that it draws.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as Trace from "@paulirish/trace_engine";
import { PAGES, reportOf } from "./browser.js";

// The one thing of a browser that the engine asks for, of which traces of this kind have no use.
globalThis.DOMRect ??= class {};

const EXECUTIONS = 0;

/** The file, and each track of it as the engine has it: process, number, name and tree. */
async function tracksOf(name) {
  const file = JSON.parse(readFileSync(join(PAGES, `${name}.trace.json`), "utf8"));
  const engine = Trace.Processor.TraceProcessor.createWithAllHandlers();
  await engine.parse(file.traceEvents, {});
  const { Meta, Renderer } = engine.data;
  assert.ok(Meta.traceIsGeneric, "it is no trace of a page");
  const tracks = [...Renderer.processes].flatMap(([pid, process]) =>
    [...process.threads].map(([tid, thread]) => ({ pid, tid, name: thread.name, tree: thread.tree })));
  return { file, tracks };
}

/** Calls `visit` with each slice of a tree and the names from its root to it. */
function walk(tree, visit) {
  const waiting = [...(tree?.roots ?? [])].map((node) => [node, []]);
  while (waiting.length > 0) {
    const [node, above] = waiting.pop();
    const path = [...above, node.entry.name];
    visit(node, path);
    for (const child of node.children) waiting.push([child, path]);
  }
}

for (const name of ["other", "hostile", "one"]) {
  test(`every slice of ${name} is in a tree, none overlaps, and series are flat`, async () => {
    const { file, tracks } = await tracksOf(name);
    const written = file.traceEvents.filter(({ ph }) => ph === "X");
    assert.ok(written.length > 0);
    const names = new Map(file.traceEvents.filter((e) => e.name === "thread_name").map((e) => [`${e.pid} ${e.tid}`, e.args.name]));
    let found = 0;
    for (const { pid, tid, name: track, tree } of tracks) {
      assert.equal(track, names.get(`${pid} ${tid}`));
      const slices = written.filter((event) => event.pid === pid && event.tid === tid).length;
      const isSeries = track.startsWith("series of ");
      let inTree = 0;
      walk(tree, (_, path) => {
        inTree += 1;
        if (isSeries) assert.equal(path.length, 1, `${path.join(" in ")} on ${track}`);
      });
      assert.equal(inTree, slices, track);
      found += inTree;
    }
    assert.equal(found, written.length);
  });
}

test("the trees of executions are the callpaths, with the times of the report", async () => {
  const { tracks } = await tracksOf("other");
  const [inclusive, exclusive] = [new Map(), new Map()];
  const add = (sums, path, microseconds) => sums.set(path, (sums.get(path) ?? 0) + microseconds * 1000);
  for (const { tree } of tracks.filter(({ tid }) => tid === EXECUTIONS)) {
    walk(tree, (node, path) => {
      add(inclusive, path.join("<"), node.entry.dur);
      add(exclusive, path.join("<"), node.selfTime);
    });
  }
  const callpaths = reportOf("other").callpaths.filter(({ ranks }) => ranks > 0);
  assert.deepEqual([...inclusive.keys()].sort(), callpaths.map(({ path }) => path).sort());
  for (const { path, inclusive_ns, exclusive_ns } of callpaths) {
    assert.equal(Math.round(inclusive.get(path)), inclusive_ns.sum, path);
    assert.equal(Math.round(exclusive.get(path)), exclusive_ns.sum, path);
  }
});
