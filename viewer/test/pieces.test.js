import assert from "node:assert/strict";
import test from "node:test";
import {fullRuns, fullestStep, indexPieces, liveBytes, liveSet, pieceAt, visitSpan} from "../pieces.js";
import {readPlan} from "../model.js";
import {samplePage} from "./sample.js";
import {smallPlan} from "./small.js";

test("live bytes are the sum of the pieces at each step", () => {
  assert.deepEqual([...liveBytes(indexPieces(smallPlan(), 0), 4)], [192, 256, 128, 32]);
});

test("the live set of a step is sorted by bytes and says what of a holder is there", () => {
  const index = indexPieces(smallPlan(), 0);
  assert.deepEqual(liveSet(index, 1), [{holder: 1, bytes: 128, low: 64}, {holder: 0, bytes: 64, low: 0}, {holder: 2, bytes: 64, low: 192}]);
  assert.deepEqual(liveSet(index, 2).map((each) => each.bytes), [64, 64]);
});

test("a point finds its piece, an empty place the largest near by or none", () => {
  const index = indexPieces(smallPlan(), 0);
  const at = (step, byte, near) => {
    const found = pieceAt(index, {step, byte}, {first: step - near, end: step + near, low: byte - 10 * near, high: byte + 10 * near});
    return found < 0 ? -1 : index.holder[found];
  };
  assert.equal(at(1.5, 200, 0.01), 2);
  assert.equal(at(2.5, 150, 0.01), -1);
  assert.equal(at(2.5, 130, 1), 1);
});

test("a span of a large index visits what a look at everything finds", () => {
  const plan = readPlan(samplePage({tensors: 4000, plain: true}).plans[0], 0);
  const index = indexPieces(plan, 0);
  for (const [from, to] of [[0, 1], [17, 18], [500, 900], [plan.steps - 1, plan.steps], [plan.steps, plan.steps + 5]]) {
    const visited = [];
    visitSpan(index, from, to, (i) => visited.push(index.piece[i]));
    const all = [];
    for (let i = 0; i < plan.pieces.count; i += 1) {
      if (plan.holders.arena[plan.pieces.holder[i]] === 0 && plan.pieces.first[i] < to && plan.pieces.end[i] > from) all.push(i);
    }
    assert.deepEqual(visited.sort((a, b) => a - b), all);
  }
});

test("runs near the most are found with their fullest step", () => {
  const live = Float64Array.from([1, 100, 99.5, 3, 99, 98, 100]);
  assert.equal(fullestStep(live), 1);
  assert.deepEqual(fullRuns(live, 0.01), [{first: 1, end: 3, at: 1, live: 100}, {first: 4, end: 5, at: 4, live: 99},
                                          {first: 6, end: 7, at: 6, live: 100}]);
  assert.deepEqual(fullRuns(new Float64Array(3), 0.01), []);
});
