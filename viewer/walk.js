// Keyboard navigation of the map: from step to step, and at a step from holder to holder.

import {humanBytes} from "./format.js";
import {stepName} from "./model.js";
import {panView, viewAtSteps, zoomView} from "./viewport.js";

// The step that is selected, else the first of the selected holder, else the one in the middle.
function stepHere(app, stage) {
  const {selected, step} = app.state;
  const at = stage.plan.number;
  if (step && step.plan === at) return step.step;
  if (selected && selected.plan === at) return stage.plan.holders.first[selected.holder];
  return Math.floor((stage.target.x0 + stage.target.x1) / 2);
}

// The holder beside `from` (−1: none yet) in the live set of a step: the next one upwards (1) or downwards (−1), or itself at
// the end.
export function neighbour(live, from, up) {
  const sorted = [...live].sort((a, b) => a.low - b.low).map((each) => each.holder);
  if (sorted.length === 0) return -1;
  const at = sorted.indexOf(from);
  if (at < 0) return up > 0 ? sorted[0] : sorted[sorted.length - 1];
  return sorted[Math.min(Math.max(at + up, 0), sorted.length - 1)];
}

export function walkMap(app, dx, dy) {
  const stage = app.current;
  if (!stage.scene) return;
  const here = Math.min(Math.max(stepHere(app, stage) + dx, 0), stage.plan.steps - 1);
  if (dx !== 0) {
    app.showStep(stage.plan, here, true);
    return;
  }
  const own = app.state.selected && app.state.selected.plan === stage.plan.number ? app.state.selected.holder : -1;
  const next = neighbour(app.liveAt(stage.plan, here), own, dy);
  if (next < 0) return;
  app.state.step = {plan: stage.plan.number, step: here};
  app.select(stage.plan, next, true);
}

// Enter: selects what is in the middle of the map.
export function selectMiddle(app) {
  const stage = app.current;
  if (!stage.scene) return;
  const {x0, x1, y0, y1} = stage.target;
  const holder = app.holderAt(stage, {part: "map", step: (x0 + x1) / 2, byte: (y0 + y1) / 2});
  if (holder >= 0) app.select(stage.plan, holder, false);
  else app.showStep(stage.plan, Math.min(Math.floor((x0 + x1) / 2), stage.plan.steps - 1), false);
}

export function panMap(app, dx, dy) {
  const stage = app.current;
  if (!stage.scene) return;
  const {x0, x1, y0, y1} = stage.target;
  app.move(stage, panView(stage.target, stage.scene.limits, dx * 0.12 * (x1 - x0), dy * 0.12 * (y1 - y0)), true);
}

export function zoomMap(app, factor) {
  const stage = app.current;
  if (!stage.scene) return;
  const {x0, x1, y0, y1} = stage.target;
  app.move(stage, zoomView(stage.target, stage.scene.limits, {step: (x0 + x1) / 2, byte: (y0 + y1) / 2}, factor, factor), true);
}

export function goToPeak(app, plan, n) {
  const stage = app.stages[plan.number];
  if (!stage.scene || stage.scene.peaks.length === 0) return;
  const {peaks, limits} = stage.scene;
  const peak = peaks[(n + peaks.length) % peaks.length];
  app.peak = (n + peaks.length) % peaks.length;
  app.move(stage, {...viewAtSteps(stage.target, limits, peak.first, peak.end), y0: 0, y1: limits.bytes}, true);
  app.showStep(plan, peak.at, false);
  app.say(`Peak ${app.peak + 1} of ${peaks.length}: ${stepName(plan, peak.at)}, ${humanBytes(peak.live)} live`, 0);
}

export function nextPeak(app, by) {
  goToPeak(app, app.current.plan, app.peak === undefined ? (by > 0 ? 0 : -1) : app.peak + by);
}
