// Sweeps: rows to curves, what fits, and where labels go.

import assert from "node:assert/strict";
import test from "node:test";
import {sweepCsv} from "../csv.js";
import {chartsOf, dimScale, dimWords, dimsOf, fitWord, labelledValues} from "../sweep.js";
import {lineStyle} from "../sweep_chart.js";
import {sampleSweepPage} from "./sample.js";

const row = (input, dims, peak, more) => ({input, dims, peak, bound: peak, proven: true, weights: 100, total: peak === null ? null : peak + 100, status: "optimal", error: "", ...more});

test("a chart for each input and dim with several values, a line for each combination of the others", () => {
  const rows = [row("a", {batch: 4, seq: 1}, 40), row("a", {batch: 1, seq: 1}, 10), row("a", {batch: 1, seq: 2}, 20), row("b", {batch: 1, seq: 1}, 5)];
  const charts = chartsOf(rows);
  assert.deepEqual(charts.map(({input, dim}) => [input, dim]), [["a", "batch"], ["a", "seq"]], "b has one row: no curve");
  assert.deepEqual(charts[0].lines.map((line) => [line.label, line.rows.map((each) => each.peak)]), [["seq=1", [10, 40]], ["seq=2", [20]]]);
  assert.deepEqual(dimsOf(rows), ["batch", "seq"]);
  assert.equal(dimWords(rows[0], "seq"), "batch=4");
});

test("rows without a peak are left out, and names of prototypes are names", () => {
  const dims = (value) => JSON.parse(`{"__proto__": ${value}}`);
  const charts = chartsOf([row("a", dims(1), 10), row("a", dims(2), null, {error: "broken"}), row("a", dims(3), 30)]);
  assert.equal(charts.length, 1);
  assert.deepEqual(charts[0].lines[0].rows.map((each) => each.peak), [10, 30]);
  assert.deepEqual(chartsOf([row("a", {n: 1}, null), row("a", {n: 2}, null)]), []);
});

test("a row fits, does not (proven), or nobody knows", () => {
  assert.equal(fitWord(row("a", {}, 10), 10, "peak"), "yes");
  assert.equal(fitWord(row("a", {}, 10), 9, "peak"), "no");
  assert.equal(fitWord(row("a", {}, 10, {bound: 8}), 9, "peak"), "unknown");
  assert.equal(fitWord(row("a", {}, 10), 109, "total"), "no");
  assert.equal(fitWord(row("a", {}, 10), 110, "total"), "yes");
  assert.equal(fitWord(row("a", {}, null, {bound: null, error: "x"}), 9, "peak"), "failed");
  assert.equal(fitWord(row("a", {}, null, {bound: 7, status: "infeasible"}), 6, "peak"), "no");
});

test("doublings are equally far apart where they span much", () => {
  const {at, doubling} = dimScale([1, 2, 4, 8]);
  assert.ok(doubling);
  assert.deepEqual([1, 2, 4, 8].map(at).map((part) => Math.round(part * 300)), [0, 100, 200, 300]);
  assert.equal(dimScale([0, 10, 100]).doubling, false, "0 has no logarithm");
  assert.equal(dimScale([5]).at(5), 0);
});

test("labels keep their distance, and the last one is there", () => {
  assert.deepEqual(labelledValues([0, 1, 2, 50, 100], (value) => value * 2, () => 30), [2, 50, 100]);
  assert.deepEqual(labelledValues([1, 1, 2], (value) => value * 100, () => 10), [1, 2]);
});

test("lines differ in colour, then in dashes", () => {
  const styles = Array.from({length: 14}, (_, n) => JSON.stringify(lineStyle(n, "light")));
  assert.equal(new Set(styles).size, 14);
});

test("CSV has all rows, with the dims as JSON", () => {
  const lines = sweepCsv(sampleSweepPage({}).sweep.rows).trimEnd().split("\r\n");
  assert.equal(lines.length, 21);
  assert.equal(lines[0], "input,hash,dims,options,peak,bound,proven,weights,total,status,error");
  assert.ok(lines[1].startsWith('models/bert.onnx,00,"{""batch"":1,""seq"":128}",{},'), lines[1]);
  assert.ok(lines.some((line) => line.endsWith("models/bert.onnx: broken")));
});
