// An explanation for a sample plan: the shape of stowage.explain/1 and of its text, with numbers that are true of the sample
// where they come from the live bytes, and made up where a planner would have to run again.

import {humanBytes, percent} from "../format.js";
import {holderName, readPlan} from "../model.js";
import {fullRuns, indexPieces, liveBytes, liveSet} from "../pieces.js";

const familyOf = (name) => name.replace(/(^|[-._/: ()])\d+(?=$|[-._/: ()])/g, "$1*");

function explained(plan, entry) {
  const {holders} = plan;
  const {holder} = entry;
  const name = holders.tensor[holder] < 0 ? holderName(plan, holder).replace("(workspace)", "(workspace 0)") : holderName(plan, holder);
  return {name, kind: plan.strings[holders.kind[holder]], scope: plan.strings[holders.scope[holder]], family: familyOf(name),
          bytes: entry.bytes, steps: [holders.first[holder], holders.end[holder]],
          offset: entry.low, beside: 0, tensors: [0], share: entry.bytes / plan.arenas[0].size, gain_bytes: 0};
}

function peaksOf(plan, index, live) {
  return fullRuns(live, 0.01).slice(0, 300).map((run) => {
    const set = liveSet(index, run.at);
    const holders = set.slice(0, 40).map((entry) => explained(plan, entry));
    return {steps: [run.first, run.end], at: run.at, op: plan.strings[plan.ops.name[run.at]], kind: plan.strings[plan.ops.kind[run.at]],
            live_bytes: run.live, holder_count: set.length, holders,
            by_kind: [], by_scope: []};
  });
}

function gainOf(plan, peak, members, gain) {
  return {gain_bytes: gain, peak_bytes: plan.arenas[0].size - gain, proven: true, then: peak.op, smallest: true, holders: members,
          alone: members.map(() => 0), tensors: [], workspaces: []};
}

function textOf(explain, plan) {
  const {peaks} = explain.arenas[0];
  const rows = peaks.slice(0, 8).map((peak) => `${String(peak.at).padStart(15)}${humanBytes(peak.live_bytes).padStart(16)}  ${peak.op} (${peak.kind}, step ${peak.at})`);
  const held = peaks[0].holders.slice(0, 8).map((holder,
                                                 n) => `  ${"ABCDEFGH"[n]}${humanBytes(holder.bytes).padStart(15)}${percent(holder.share, 1).padStart(8)}  ${holder.kind.padEnd(16)}  ${holder.name}`);
  return `${explain.cause}\n\n  peak ${humanBytes(explain.peak_bytes).padStart(20)}\n  bound ${humanBytes(explain.lower_bound_bytes).padStart(19)}\n\nArena '${plan.arenas[0].name}' (shared): ` +
         `${peaks.length} binding peaks\n          steps            live  fullest at op\n${rows.join("\n")}\n  At step ${peaks[0].at}, op '${peaks[0].op}', ${peaks[0].holder_count} holders are needed:\n${held.join("\n")}\n`;
}

// {explain, text} for the columns of a plan.
export function sampleExplain(json, budget) {
  const plan = readPlan({...json, explain: null, text: null}, 0);
  const index = indexPieces(plan, 0);
  const live = liveBytes(index, plan.steps);
  const peaks = peaksOf(plan, index, live);
  const first = peaks[0];
  const size = plan.arenas[0].size;
  const gains = [0, 1, 2].filter((n) => n < first.holders.length).map((n) => {
    const members = peaks.map((peak) => peak.holders[Math.min(n, peak.holders.length - 1)]);
    return gainOf(plan, first, members, Math.round(size * [0.21, 0.06, 0.03][n]));
  });
  const top = first.holders.slice(0, 3).map((holder) => `${holder.name} (${humanBytes(holder.bytes)}, ${percent(holder.share, 1)})`).join(", ");
  const explain = {
    schema: "stowage.explain/1", name: json.summary.name,
    cause: `${json.summary.name} needs ${humanBytes(size)} because ${top} and ${first.holder_count - 3} others are needed at the same time at op '${first.op}' (step ${first.at}).`,
    ops: json.steps, tensors: json.summary.tensors, peak_bytes: size, lower_bound_bytes: json.summary.lower_bound_bytes,
    naive_bytes: json.summary.naive_bytes, proven_optimal: json.summary.proven_optimal,
    largest_op: {name: first.op, kind: first.kind, step: first.at, bytes: Math.round(size * 0.82)}, within: 0.01,
    arenas: [{name: "cpu", memory: "cpu", kind: "shared", size, lower_bound: json.summary.lower_bound_bytes, live_bytes: first.live_bytes,
              concurrent: false, peak_count: peaks.length, fullest: 0, peaks,
              map_at_peak: [], map_of_time: []}],
    gains,
    costs: [{constraint: "alignment", without: "alignment 1", cost_bytes: 0, peak_bytes: size, proven: true},
            {constraint: "outputs kept to the end", without: "outputs live to their last use", cost_bytes: Math.round(size * 0.04),
             peak_bytes: Math.round(size * 0.96), proven: true}],
    budget: budget === null ? null : {budget_bytes: budget, fits: size <= budget, constraints: [], together: [], together_peak_bytes: null,
                                      shrink: gains[0] || null, reason: ""},
    replans: 27, skipped: 0,
  };
  return {explain, text: textOf(explain, plan)};
}
