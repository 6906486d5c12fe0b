// What to change, based on the re-plans of the explanation. No DOM.

import {unitOf} from "./format.js";

const ABSURD = 2 ** 20;  // of a unit: a million MiB must have meant bytes

// Holders by family, largest families first: [{family, holders}].
export function familiesOf(holders) {
  const families = new Map();
  for (const holder of holders) {
    const family = holder.family || holder.name;
    if (!families.has(family)) families.set(family, []);
    families.get(family).push(holder);
  }
  return [...families].map(([family, list]) => ({family, holders: list})).sort((a, b) => sumBytes(b.holders) - sumBytes(a.holders));
}

function sumBytes(holders) {
  return holders.reduce((sum, holder) => sum + holder.bytes, 0);
}

// What is known about fitting into `bytes` of each memory, whose `needs` are given: {over, impossible, constraints: [cost],
// together, shrinks: [gain], least}. `over`: the excess in the fullest memory, 0 if it fits. `impossible`: one op alone
// needs more. `together`: constraints that suffice only when all are dropped, {constraints, peak} or null. Shrinks with
// the fewest holders come first. `least`: the lowest peak of all re-plans, or null. Peaks of re-plans are sums over
// memories: with several memories, only the answer for the requested budget is used.
export function answerFor(explain, bytes, needs) {
  const {budget, gains, costs} = explain;
  const single = needs.length <= 1;
  const asked = budget && bytes >= budget.budget_bytes ? budget : null;
  const suffices = (trial) => single && trial.peak_bytes !== null && trial.peak_bytes <= bytes;
  const shrinks = gains.filter(suffices);
  const own = budget && budget.shrink && (asked || suffices(budget.shrink)) ? budget.shrink : null;
  const known = (gain) => gain.peak_bytes === own.peak_bytes && gain.holders.length === own.holders.length;
  if (own && !shrinks.some(known)) shrinks.push(own);
  const peaks = [...gains, ...costs, ...(own ? [own] : [])].map((trial) => trial.peak_bytes).filter((peak) => peak !== null);
  return {
    over: Math.max(0, Math.max(...needs, 0) - bytes),
    impossible: single && explain.largest_op && explain.largest_op.bytes > bytes ? explain.largest_op : null,
    constraints: costs.filter((cost) => (asked && asked.constraints.includes(cost.constraint)) || (cost.cost_bytes > 0 && suffices(cost))),
    together: asked && asked.together.length > 0 ? {constraints: asked.together, peak: asked.together_peak_bytes} : null,
    shrinks: shrinks.sort((a, b) => a.holders.length - b.holders.length || a.peak_bytes - b.peak_bytes),
    least: single ? Math.min(explain.peak_bytes, ...peaks) : null,
  };
}

// The factor, such as 0.24, to which some holders must shrink so that no step has more than `bytes` live. `live` is by
// step, `peak` the peak of the re-plan without them. Null unless the live bytes explain both the current peak (`most`)
// and `peak`: only then does scaling the holders scale the peak between the two.
export function partThatFits({live, most, peak}, holders, bytes) {
  const held = new Float64Array(live.length + 1);
  for (const {steps, bytes: size} of holders) {
    held[Math.min(steps[0], live.length)] += size;
    held[Math.min(steps[1], live.length)] -= size;
  }
  let own = 0;
  let least = 0;
  let fullest = 0;
  let part = 1;
  for (let step = 0; step < live.length; step += 1) {
    own += held[step];
    least = Math.max(least, live[step] - own);
    fullest = Math.max(fullest, live[step]);
    if (live[step] > bytes) part = Math.min(part, own > 0 ? 1 - (live[step] - bytes) / own : -1);
  }
  return fullest === most && least === peak && part >= 0 ? part : null;
}

// "64MiB", "64 m", "1.5 GB", "70000 B": bytes, or null; units as on the command line, where MB is a million. A number alone has
// the unit that sizes like `usual` are shown in; where that would be absurd, it is bytes.
export function parseSize(text, usual) {
  const found = /^\s*(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?b)?|(b|bytes?))?\s*$/i.exec(text);
  if (!found) return null;
  const number = Number(found[1]);
  const power = found[2] ? 1 + "kmgt".indexOf(found[2].toLowerCase()) : found[4] || number >= ABSURD ? 0 : unitOf(usual);
  const thousands = found[3] && found[3].length === 1;
  return Math.round(number * (thousands ? 1000 : 1024) ** power);
}
