// Several holders at once: those that a change would have to shrink. Outlined when pointed at, highlighted when chosen.

import {findHolder} from "./lookup.js";
import {holderBox} from "./model.js";
import {viewAround} from "./viewport.js";

const MOST_POINTED = 2000;

// `wanted` has the form of holders in explanations: [{name, steps, …}]. Without duplicates and unknown holders.
function holdersOf(plan, wanted) {
  return [...new Set(wanted.map((each) => findHolder(plan, each)).filter((holder) => holder >= 0))];
}

export function litGroup(plan, holders) {
  const lit = new Uint8Array(plan.holders.count);
  for (const holder of holders) lit[holder] = 1;
  return lit;
}

// The rectangle around several holders.
function boxAround(plan, holders) {
  const around = {first: Infinity, end: -Infinity, low: Infinity, high: -Infinity};
  for (const holder of holders) {
    const {first, end, low, high} = holderBox(plan, holder);
    around.first = Math.min(around.first, first);
    around.end = Math.max(around.end, end);
    around.low = Math.min(around.low, low);
    around.high = Math.max(around.high, high);
  }
  return around;
}

// Highlights and lists them, in the arena of the first; a single one is selected instead.
export function showGroup(app, plan, wanted) {
  const holders = holdersOf(plan, wanted);
  if (holders.length <= 1) {
    app.select(plan, holders.length === 1 ? holders[0] : -1, true);
    return;
  }
  Object.assign(app.state, {selected: null, step: null, panel: "selection"});
  app.setGroup({plan: plan.number, holders});
  const arena = plan.holders.arena[holders[0]];
  const box = boxAround(plan, holders.filter((holder) => plan.holders.arena[holder] === arena));
  app.reveal(plan, arena, ({target, scene}) => {
    const seen = box.first >= target.x0 && box.end <= target.x1 && box.low >= target.y0 && box.high <= target.y1;
    return seen ? target : viewAround(box, scene.limits);
  });
  app.afterSelecting(`${holders.length} holders are highlighted`);
}

// Outlines them while the line of a panel that names them is pointed at; an empty list clears the outlines.
export function pointAt(app, plan, wanted) {
  const holders = holdersOf(plan, wanted.slice(0, MOST_POINTED));
  app.pointed = holders.length > 0 ? {plan: plan.number, holders} : null;
  app.touchMarks();
}
