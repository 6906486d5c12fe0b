// Puts the steps of two plans on one axis, so that an op that both have lies at the same place in both maps. Ops are matched
// by name and kind, those with equal ones in their order; the largest set of matches that keeps the order of both plans is
// kept (patience: the longest ascending sequence, O(n log n)). Between two matches, the ops of both plans share columns as
// long as both have some; the rest are columns at which no op of the other plan runs.

function keysOf(plan) {
  const seen = new Map();
  return Array.from({length: plan.steps}, (_, step) => {
    const own = `${plan.strings[plan.ops.name[step]] || ""}\n${plan.strings[plan.ops.kind[step]] || ""}`;
    const times = seen.get(own) || 0;
    seen.set(own, times + 1);
    return `${own}\n${times}`;
  });
}

// Positions in `values`, which are different numbers, of a longest ascending sequence.
function longestAscending(values) {
  const last = [];  // by length − 1: the position where the best sequence of that length ends
  const before = new Int32Array(values.length).fill(-1);
  for (let i = 0; i < values.length; i += 1) {
    let low = 0;
    let high = last.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[last[middle]] < values[i]) low = middle + 1;
      else high = middle;
    }
    if (low > 0) before[i] = last[low - 1];
    last[low] = i;
  }
  const chosen = [];
  for (let i = last.length > 0 ? last[last.length - 1] : -1; i >= 0; i = before[i]) chosen.push(i);
  return chosen.reverse();
}

// Pairs [step of the first plan, step of the second], ascending in both.
function matchSteps(first, second) {
  const places = new Map(keysOf(second).map((key, step) => [key, step]));
  const pairs = keysOf(first).map((key, step) => [step, places.get(key)]).filter(([, step]) => step !== undefined);
  return longestAscending(pairs.map(([, step]) => step)).map((i) => pairs[i]);
}

// The column of each step: {columns, of: [by step of the first plan, by step of the second]}.
function layOut(plans, pairs) {
  const of = plans.map((plan) => new Int32Array(plan.steps));
  const next = [0, 0];
  let columns = 0;
  for (const pair of [...pairs, plans.map((plan) => plan.steps)]) {
    const runs = pair.map((step, at) => step - next[at]);
    runs.forEach((run, at) => {
      for (let i = 0; i < run; i += 1) of[at][next[at] + i] = columns + i;
    });
    columns += Math.max(...runs);
    pair.forEach((step, at) => {
      if (step < plans[at].steps) of[at][step] = columns;
      next[at] = step + 1;
    });
    columns += 1;
  }
  return {columns: columns - 1, of};
}

function moveTable(table, names, columns, of) {
  for (const name of names) {
    const moved = new Int32Array(columns).fill(name === "stream" ? -1 : 0);
    table[name].forEach((value, step) => (moved[of[step]] = value));
    table[name] = moved;
  }
  table.count = columns;
}

function moveSpans(table, steps, columns, of) {
  for (let i = 0; i < table.first.length; i += 1) {
    const end = table.end[i];
    table.first[i] = table.first[i] < steps ? of[table.first[i]] : columns;
    table.end[i] = end >= steps ? columns : end > 0 ? of[end - 1] + 1 : 0;
  }
}

function movePlan(plan, columns, of) {
  const {steps} = plan;
  moveTable(plan.ops, ["name", "kind", "stream", "layer", "source"], columns, of);
  moveSpans(plan.holders, steps, columns, of);
  moveSpans(plan.pieces, steps, columns, of);
  const moved = (step) => (step >= 0 && step < steps ? of[step] : step);
  plan.tensors.producer = plan.tensors.producer.map(moved);
  plan.reads = plan.reads.map(moved);
  plan.isGap = new Uint8Array(columns).fill(1);
  plan.numbers = new Int32Array(columns).fill(-1);
  of.forEach((column, step) => {
    plan.isGap[column] = 0;
    plan.numbers[column] = step;
  });
  for (let column = 1; column < columns; column += 1) {
    if (plan.isGap[column]) plan.numbers[column] = plan.numbers[column - 1];
  }
  plan.steps = columns;
}

// Changes both plans. Without ops there is nothing to align.
export function alignPlans(plans) {
  if (plans.length !== 2 || plans.some((plan) => plan.ops.count < plan.steps)) return;
  const {columns, of} = layOut(plans, matchSteps(...plans));
  plans.forEach((plan, at) => movePlan(plan, columns, of[at]));
}
