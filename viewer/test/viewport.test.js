import assert from "node:assert/strict";
import test from "node:test";
import {approach, clampView, panView, sameView, viewAround, viewAtSteps, wholeView, zoomView} from "../viewport.js";

const limits = {steps: 1000, bytes: 4096};
const inside = (view) => view.x0 >= 0 && view.y0 >= 0 && view.x1 <= limits.steps && view.y1 <= limits.bytes && view.x0 < view.x1
  && view.y0 < view.y1;

test("zooming keeps the point under the pointer", () => {
  const view = {x0: 100, x1: 300, y0: 0, y1: 2048};
  const near = zoomView(view, limits, {step: 150, byte: 512}, 2, 2);
  assert.deepEqual(near, {x0: 125, x1: 225, y0: 256, y1: 1280});
  assert.deepEqual(zoomView(view, limits, {step: 150, byte: 512}, 2, 1), {x0: 125, x1: 225, y0: 0, y1: 2048});
});

test("no view leaves the arena or vanishes", () => {
  const views = [{x0: -50, x1: 20, y0: -9, y1: 100}, {x0: 990, x1: 1200, y0: 4000, y1: 5000}, {x0: 5, x1: 5, y0: 7, y1: 7},
                 {x0: -1e9, x1: 1e9, y0: -1e9, y1: 1e9}];
  for (const view of views) assert.ok(inside(clampView(view, limits)), JSON.stringify(view));
  assert.ok(inside(panView(wholeView(limits), limits, 500, -500)));
  assert.ok(inside(zoomView(wholeView(limits), limits, {step: 999, byte: 1}, 1e9, 1e9)));
  assert.deepEqual(clampView({x0: 0, x1: 9, y0: 0, y1: 9}, {steps: 1, bytes: 1}), {x0: 0, x1: 1, y0: 0, y1: 1});
});

test("going to a tensor or a step shows it whole", () => {
  const view = viewAround({first: 10, end: 20, low: 1024, high: 2048}, limits);
  assert.ok(view.x0 <= 10 && view.x1 >= 20 && view.y0 <= 1024 && view.y1 >= 2048);
  const steps = viewAtSteps(wholeView(limits), limits, 500, 501);
  assert.ok(steps.x0 <= 500 && steps.x1 >= 501 && steps.x1 - steps.x0 < 100);
});

test("frames come to rest at the target", () => {
  const target = {x0: 400, x1: 500, y0: 0, y1: 1000};
  let view = wholeView(limits);
  let frames = 0;
  for (; !sameView(view, target); frames += 1) view = approach(view, target, 0.32);
  assert.ok(frames > 3 && frames < 60, `${frames}`);
});
