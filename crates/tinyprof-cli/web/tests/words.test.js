// Numbers and names as the page writes them: as the terminal does, as far as letters go.

import assert from "node:assert/strict";
import { test } from "node:test";
import { aboveMean, count, counted, data, deviation, percent, time } from "../src/numbers.js";
import { shown } from "../src/names.js";

test("times have three digits and the unit that suits them", () => {
  const cases = [
    [0, "0 ns"], [999, "999 ns"], [1000, "1.00 µs"], [9994, "9.99 µs"], [9996, "10.0 µs"], [99960, "100 µs"], [999499, "999 µs"],
    [999500, "1.00 ms"], [1234567890, "1.23 s"], [9.999e12, "9\u202f999 s"], [3.6e13, "10.0 h"], [-44700000, "−44.7 ms"],
    [12.5, "12.5 ns"], [null, "–"], [NaN, "–"],
  ];
  for (const [ns, expected] of cases) assert.equal(time(ns), expected);
});

test("counts, parts and lengths of data", () => {
  assert.deepEqual([count(0), count(204800), count(1234567), counted(1, "rank"), counted(2, "rank")], ["0", "204\u202f800", "1.23 M", "1 rank", "2 ranks"]);
  assert.deepEqual([percent(0), percent(0.0001), percent(0.1234), percent(1), percent(null)], ["0.0 %", "<0.1 %", "12.3 %", "100 %", "–"]);
  assert.deepEqual([aboveMean(0.5, 2), aboveMean(0, 1)], ["+50.0 %", "–"]);
  assert.deepEqual([deviation(0.5), deviation(-0.5), deviation(null)], ["+50.0 %", "−50.0 %", "–"]);
  assert.deepEqual([data(999), data(1234567890)], ["999 B", "1.23 GB"]);
});

test("what could hide in a name is spelled out", () => {
  const cases = [
    ["solve::<f64>", "solve::<f64>"], ["", '""'], [" main", '" main"'], ["a\u202eb\u200bc", "a\\u{202e}b\\u{200b}c"],
    ["\u001b[2J\n", "\\u{1b}[2J\\u{a}"], ["z\u0301", "z\\u{301}"], ["one\u2028two", "one\\u{2028}two"], ["流れ計算", "流れ計算"],
  ];
  for (const [name, expected] of cases) assert.equal(shown(name), expected);
  assert.equal(shown("x".repeat(5000)).length, 201);
});
