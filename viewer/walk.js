// Going through the map without a pointer: from step to step, and at a step from holder to holder.

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

// Enter: what lies in the middle of the map.
export function selectMiddle(app) {
  const stage = app.current;
  if (!stage.scene) return;
  const {x0, x1, y0, y1} = stage.target;
  const holder = app.holderAt(stage, {part: "map", step: (x0 + x1) / 2, byte: (y0 + y1) / 2});
  if (holder >= 0) app.select(stage.plan, holder, false);
  else app.showStep(stage.plan, Math.min(Math.floor((x0 + x1) / 2), stage.plan.steps - 1), false);
}
