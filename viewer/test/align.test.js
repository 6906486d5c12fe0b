// Two plans on one axis.

import assert from "node:assert/strict";
import test from "node:test";
import {isGap, opName, readPage, readsOf, spanName, stepName} from "../model.js";
import {arenaFacts, makeLook, makeScene} from "../scenes.js";
import {factsOf} from "../story.js";
import {smallColumns} from "./small.js";

// The small plan and the same with an op inserted before "add" (step 2), which writes a tensor of 32 bytes.
function pageOfTwo() {
  const before = smallColumns();
  const after = smallColumns();
  const later = (step) => (step >= 2 ? step + 1 : step);
  const end = (step) => (step > 2 ? step + 1 : step);
  after.strings.push("extra", "EXTRA");
  after.steps = 5;
  for (const column of Object.keys(after.ops)) after.ops[column].splice(2, 0, 0);
  after.ops.name[2] = after.strings.length - 2;
  after.ops.kind[2] = after.strings.length - 1;
  after.tensors.producer = after.tensors.producer.map(later);
  after.reads = after.reads.map(later);
  for (const table of [after.holders, after.pieces]) Object.assign(table, {first: table.first.map(later), end: table.end.map(end)});
  return {schema: "stowage.page/1", title: "two", plans: [before, after], diff: {entries: []}, replay: null};
}

test("an op that both plans have is at the same step of both, and only the inserted one is a gap", () => {
  const [before, after] = readPage(pageOfTwo()).plans;
  assert.deepEqual([before.steps, after.steps], [5, 5]);
  const names = (plan) => Array.from({length: plan.steps}, (_, step) => (isGap(plan, step) ? null : opName(plan, step)));
  assert.deepEqual(names(before), ["mul", "half", null, "add", "out"]);
  assert.deepEqual(names(after), ["mul", "half", "extra", "add", "out"]);
  assert.deepEqual([...before.holders.first, ...before.holders.end], [...after.holders.first, ...after.holders.end]);
  assert.deepEqual([...readsOf(before, 0)], [...readsOf(after, 0)]);
});

test("steps keep the numbers of their own plan", () => {
  const [before, after] = readPage(pageOfTwo()).plans;
  assert.deepEqual([0, 1, 2, 3, 4].map((step) => stepName(before, step)), ["step 0", "step 1", "after step 1", "step 2", "step 3"]);
  assert.equal(stepName(after, 4), "step 4");
  assert.equal(spanName(before, 0, 4), "steps 0–2");
  assert.equal(new Map(factsOf(before, 1, 0)).get("life"), "steps 0–2 (3 steps)");
});

test("where no op of a plan runs, live is what was live before", () => {
  const [before] = readPage(pageOfTwo()).plans;
  const {live} = arenaFacts(before, 0);
  assert.equal(live[2], live[1]);
});

test("ops that are in neither order, or in one plan alone, share columns", () => {
  const page = pageOfTwo();
  const own = (plan, name) => plan.ops.name.map((each) => plan.strings[each]).indexOf(name);
  page.plans[1].strings[page.plans[1].ops.name[own(page.plans[1], "add")]] = "sum";  // renamed: beside "add"
  const [before, after] = readPage(page).plans;
  assert.equal(before.steps, 5);
  assert.equal(after.steps, 5);
  page.plans = [page.plans[0], {...page.plans[0], ops: {...page.plans[0].ops, name: [...page.plans[0].ops.name].reverse()}}];
  assert.ok(readPage(page).plans[0].steps <= 8);
});

test("plans without ops are left as they are", () => {
  const page = pageOfTwo();
  Object.assign(page.plans[1], {ops: {name: [], kind: [], stream: [], layer: [], source: []}, steps: 0});
  const [before, after] = readPage(page).plans;
  assert.deepEqual([before.steps, after.steps, before.isGap], [4, 1, null]);
});

test("both scenes have one scale", () => {
  const {plans} = readPage(pageOfTwo());
  const shown = plans.map((plan) => ({plan, number: 0}));
  const look = makeLook(shown, "kind", "light");
  const scenes = plans.map((plan, at) => makeScene(plan, 0, look, at, {lit: null, ghost: null, fit: null, limits: {steps: 5, bytes: 256}}));
  assert.deepEqual(scenes[0].limits, scenes[1].limits);
});
