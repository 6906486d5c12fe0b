// An explanation for a sample plan, in the form of stowage.explain/1 and of the text of `stowage explain`. Numbers that follow from the
// live bytes are true of the sample. Those that only planning again can tell (gains, costs, the largest op) are made up.

import {humanBytes, percent} from "../format.js";
import {holderName, readPlan} from "../model.js";
import {fullRuns, indexPieces, liveBytes, liveSet} from "../pieces.js";

const WITHIN = 0.01;  // a step binds when its live bytes are within this part of the most
const MAX_PEAKS = 300;
const MAX_HOLDERS = 40;
const TEXT_ROWS = 8;  // of each list in the text
const GAINS = [0.21, 0.06, 0.03];  // made up, as parts of the peak

// The name with a star for each number: "layer.3/add" and "layer.4/add" are of the family "layer.*/add".
const familyOf = (name) => name.replace(/(^|[-._/: ()])\d+(?=$|[-._/: ()])/g, "$1*");

// A holder of a peak; entry: what liveSet says about it.
function holderOf(plan, entry) {
  const {holders} = plan;
  const {holder} = entry;
  const isWorkspace = holders.tensor[holder] < 0;
  const shown = holderName(plan, holder);
  const name = isWorkspace ? shown.replace("(workspace)", "(workspace 0)") : shown;
  return {name, kind: plan.strings[holders.kind[holder]], scope: plan.strings[holders.scope[holder]], family: familyOf(name),
          bytes: entry.bytes, steps: [holders.first[holder], holders.end[holder]],
          offset: entry.low, beside: 0, tensors: [0], share: entry.bytes / plan.arenas[0].size, gain_bytes: 0};
}

function peaksOf(plan, index, live) {
  return fullRuns(live, WITHIN).slice(0, MAX_PEAKS).map((run) => {
    const set = liveSet(index, run.at);
    const holders = set.slice(0, MAX_HOLDERS).map((entry) => holderOf(plan, entry));
    return {steps: [run.first, run.end], at: run.at, op: plan.strings[plan.ops.name[run.at]], kind: plan.strings[plan.ops.kind[run.at]],
            live_bytes: run.live, holder_count: set.length, holders,
            by_kind: [], by_scope: []};
  });
}

function gainOf(plan, peak, members, gain) {
  return {gain_bytes: gain, peak_bytes: plan.arenas[0].size - gain, proven: true, then: peak.op, smallest: true, holders: members,
          alone: members.map(() => 0), tensors: [], workspaces: []};
}

function peakRow(peak) {
  const step = String(peak.at).padStart(15);
  const live = humanBytes(peak.live_bytes).padStart(16);
  return `${step}${live}  ${peak.op} (${peak.kind}, step ${peak.at})`;
}

function holderRow(holder, index) {
  const letter = "ABCDEFGH"[index];
  const bytes = humanBytes(holder.bytes).padStart(15);
  const share = percent(holder.share, 1).padStart(8);
  return `  ${letter}${bytes}${share}  ${holder.kind.padEnd(16)}  ${holder.name}`;
}

function textOf(explain, plan) {
  const {peaks} = explain.arenas[0];
  const first = peaks[0];
  return [
    explain.cause,
    "",
    `  peak ${humanBytes(explain.peak_bytes).padStart(20)}`,
    `  bound ${humanBytes(explain.lower_bound_bytes).padStart(19)}`,
    "",
    `Arena '${plan.arenas[0].name}' (shared): ${peaks.length} binding peaks`,
    "          steps            live  fullest at op",
    ...peaks.slice(0, TEXT_ROWS).map(peakRow),
    `  At step ${first.at}, op '${first.op}', ${first.holder_count} holders are needed:`,
    ...first.holders.slice(0, TEXT_ROWS).map(holderRow),
    "",
  ].join("\n");
}

function causeOf(name, size, peak) {
  const top = peak.holders.slice(0, 3).map((holder) => `${holder.name} (${humanBytes(holder.bytes)}, ${percent(holder.share, 1)})`).join(", ");
  return `${name} needs ${humanBytes(size)} because ${top} and ${peak.holder_count - 3} others are needed at the same time at op ` +
         `'${peak.op}' (step ${peak.at}).`;
}

// One gain for each of the largest holders of the first peak: that holder, and the one at its rank in every other peak.
function gainsOf(plan, peaks) {
  const first = peaks[0];
  return GAINS.slice(0, first.holders.length).map((part, rank) => {
    const members = peaks.map((peak) => peak.holders[Math.min(rank, peak.holders.length - 1)]);
    return gainOf(plan, first, members, Math.round(plan.arenas[0].size * part));
  });
}

// {explain, text} for a plan as a page has it (its columns); budget: bytes, or null.
export function sampleExplain(json, budget) {
  const plan = readPlan({...json, explain: null, text: null}, 0);
  const index = indexPieces(plan, 0);
  const live = liveBytes(index, plan.steps);
  const peaks = peaksOf(plan, index, live);
  const first = peaks[0];
  const size = plan.arenas[0].size;
  const gains = gainsOf(plan, peaks);
  const explain = {
    schema: "stowage.explain/1", name: json.summary.name,
    cause: causeOf(json.summary.name, size, first),
    ops: json.steps, tensors: json.summary.tensors, peak_bytes: size, lower_bound_bytes: json.summary.lower_bound_bytes,
    naive_bytes: json.summary.naive_bytes, proven_optimal: json.summary.proven_optimal,
    largest_op: {name: first.op, kind: first.kind, step: first.at, bytes: Math.round(size * 0.82)}, within: WITHIN,
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
