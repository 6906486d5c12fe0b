// The part of a map that is seen: steps [x0, x1) and bytes [y0, y1). Plain values, no DOM; every function returns a new one.

const LEAST_STEPS = 3;
const LEAST_BYTES = 64;

export function wholeView(limits) {
  return {x0: 0, x1: limits.steps, y0: 0, y1: limits.bytes};
}

// Inside the limits, and no smaller than a few steps and bytes.
export function clampView(view, limits) {
  const [x0, x1] = clampRange(view.x0, view.x1, Math.min(LEAST_STEPS, limits.steps), limits.steps);
  const [y0, y1] = clampRange(view.y0, view.y1, Math.min(LEAST_BYTES, limits.bytes), limits.bytes);
  return {x0, x1, y0, y1};
}

function clampRange(low, high, least, most) {
  const span = Math.min(Math.max(high - low, least), most);
  const middle = (low + high) / 2;
  const start = Math.min(Math.max(high - low === span ? low : middle - span / 2, 0), most - span);
  return [start, start + span];
}

// Factors above 1 zoom in; the point stays fixed.
export function zoomView(view, limits, point, factorX, factorY) {
  const spanX = Math.min(Math.max((view.x1 - view.x0) / factorX, Math.min(LEAST_STEPS, limits.steps)), limits.steps);
  const spanY = Math.min(Math.max((view.y1 - view.y0) / factorY, Math.min(LEAST_BYTES, limits.bytes)), limits.bytes);
  const partX = (point.step - view.x0) / (view.x1 - view.x0);
  const partY = (point.byte - view.y0) / (view.y1 - view.y0);
  const x0 = point.step - partX * spanX;
  const y0 = point.byte - partY * spanY;
  return clampView({x0, x1: x0 + spanX, y0, y1: y0 + spanY}, limits);
}

export function panView(view, limits, steps, bytes) {
  return clampView({x0: view.x0 + steps, x1: view.x1 + steps, y0: view.y0 + bytes, y1: view.y1 + bytes}, limits);
}

// Around a box {first, end, low, high}, with room on all sides, so that its neighbours are seen too.
export function viewAround(box, limits) {
  const padX = Math.max((box.end - box.first) * 0.6, 8);
  const padY = Math.max((box.high - box.low) * 0.6, LEAST_BYTES);
  return clampView({x0: box.first - padX, x1: box.end + padX, y0: box.low - padY, y1: box.high + padY}, limits);
}

// Steps only: the span in the middle third, bytes unchanged.
export function viewAtSteps(view, limits, first, end) {
  const span = Math.max(Math.min(view.x1 - view.x0, Math.max(60, (end - first) * 3)), 12);
  const middle = (first + end) / 2;
  return clampView({...view, x0: middle - span / 2, x1: middle + span / 2}, limits);
}

export function sameView(a, b) {
  return a.x0 === b.x0 && a.x1 === b.x1 && a.y0 === b.y0 && a.y1 === b.y1;
}

// One frame of an animation towards a target, fast at first; done when the rest is less than a thousandth of the view.
export function approach(view, target, part) {
  const next = {};
  const spanX = target.x1 - target.x0;
  const spanY = target.y1 - target.y0;
  let far = 0;
  for (const [key, span] of [["x0", spanX], ["x1", spanX], ["y0", spanY], ["y1", spanY]]) {
    next[key] = view[key] + (target[key] - view[key]) * part;
    far = Math.max(far, Math.abs(target[key] - next[key]) / span);
  }
  return far < 1e-3 ? target : next;
}
