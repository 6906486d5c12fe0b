// The texts of the page: why a holder is live, what to change, which words of a text are links.

import assert from "node:assert/strict";
import test from "node:test";
import {answerFor, familiesOf, parseSize, partThatFits} from "../answer.js";
import {isBrowsers} from "../keys.js";
import {namesIn, splitText} from "../links.js";
import {findHolder, findOp, makePattern, searchHolders} from "../lookup.js";
import {factsOf, needing, neededAt, sentenceText, spoken, whyAlive} from "../story.js";
import {neighbour} from "../walk.js";
import {holderName, readPlan} from "../model.js";
import {indexPieces, liveSet} from "../pieces.js";
import {gapText} from "../why.js";
import {sampleDiffPage, samplePage} from "./sample.js";
import {smallPlan} from "./small.js";

test("why a holder is alive: writer, last reader, inputs and outputs", () => {
  const plan = smallPlan();
  const why = (holder, step) => sentenceText(whyAlive(plan, holder, step));
  assert.equal(why(0, 1), "graph input: given before step 0; last read by add (ADD) at step 2");
  assert.equal(why(1, 0), "h: written by mul (MUL) at step 0; last read by half (HALF) at step 1");
  assert.equal(why(1, 2), "h2: written by half (HALF) at step 1; last read by add (ADD) at step 2");
  assert.equal(why(1, 1), "h: written by mul (MUL) at step 0; last read by half (HALF) at step 1; 1 other tensor also needs these bytes");
  assert.equal(why(2, 1), "workspace of half (HALF): needed while it runs");
  assert.equal(why(3, 3), "written by out (COPY) at step 3; read by no op; graph output: kept to the end");
});

test("which tensors of a holder a step needs", () => {
  const plan = smallPlan();
  assert.deepEqual(needing(plan, 1, 0), [1]);
  assert.deepEqual(needing(plan, 1, 1), [1, 2]);
  assert.deepEqual(needing(plan, 1, null), [1, 2]);
  assert.equal(neededAt(plan, 2, 3), false);
});

test("a holder has one name", () => {
  const plan = smallPlan();
  assert.equal(holderName(plan, 1), "h", "at step 2 too, where h2 alone is needed");
  assert.equal(holderName(plan, 2), "half (workspace)");
});

test("facts of a tooltip", () => {
  const facts = new Map(factsOf(smallPlan(), 1, 0));
  assert.equal(facts.get("op"), "mul (MUL), step 0");
  assert.equal(facts.get("size"), "128 B (128 bytes)");
  assert.equal(facts.get("life"), "steps 0–2 (3 steps)");
  assert.equal(facts.get("offset"), "64 B (64 bytes)");
  assert.equal(facts.get("shares with"), "h2");
  assert.equal(spoken(smallPlan(), 1), "h, 128 B, steps 0–2");
});

test("holders are found by any tensor's name, the best of several", () => {
  const plan = smallPlan();
  assert.equal(findHolder(plan, {name: "h2"}), 1);
  assert.equal(findHolder(plan, {name: "half (workspace 0)"}), 2);
  assert.equal(findHolder(plan, {name: "h +3"}), 1);
  assert.equal(findHolder(plan, {name: "nothing"}), -1);
  assert.equal(findHolder(plan, {name: "constructor"}), -1);
  plan.strings[plan.tensors.name[3]] = "x";
  delete plan.byName;
  assert.equal(findHolder(plan, {name: "x", steps: [3, 4]}), 3);
  assert.equal(findHolder(plan, {name: "x", steps: [0, 3]}), 0);
});

test("ops are found by name, the next one of several", () => {
  const plan = smallPlan();
  plan.strings[plan.ops.name[2]] = "mul";
  assert.equal(findOp(plan, "mul"), 0);
  assert.equal(findOp(plan, "mul", 1), 2);
  assert.equal(findOp(plan, "nothing"), -1);
});

test("search takes expressions, and text where it is none", () => {
  const plan = smallPlan();
  assert.deepEqual(searchHolders(plan, "^h2?$").hits, [1]);
  assert.deepEqual(searchHolders(plan, "HALF").hits, [1, 2]);
  assert.equal(searchHolders(plan, "HALF").bytes, 192);
  assert.deepEqual([...searchHolders(plan, "^y$").lit], [0, 0, 0, 1]);
  assert.ok(makePattern("a\\-b").test("A-B"));
  assert.equal(makePattern("a\\-b").error, null);
  assert.ok(makePattern("^\\p{L}$").test("ש"));
  const broken = makePattern("kq(");
  assert.ok(broken.error);
  assert.ok(broken.test("a KQ( b"));
  assert.ok(!broken.test("kq"));
});

test("links are whole names, and steps", () => {
  const names = new Set(["ffn_gate-1", "ffn_gate", "a.b"]);
  const parts = splitText("ffn_gate-1, ffn_gate-12, ffn_gate ffn_gate-* at 'a.b' (step 29), steps 3", names);
  assert.deepEqual(parts.filter((part) => typeof part !== "string").map((part) => part.text),
                   ["ffn_gate-1", "ffn_gate", "a.b", "step 29", "steps 3"]);
  assert.equal(parts.map((part) => (typeof part === "string" ? part : part.text)).join(""),
               "ffn_gate-1, ffn_gate-12, ffn_gate ffn_gate-* at 'a.b' (step 29), steps 3");
});

test("a step is a link across the end of a line", () => {
  assert.deepEqual(splitText("op 'x' (step\n29), steps", new Set()), ["op 'x' (", {text: "step\n29", step: 29}, "), steps"]);
});

test("every name of an explanation can be a link", () => {
  const {explain, text} = samplePage({tensors: 300}).plans[0];
  const names = namesIn(explain);
  assert.ok(names.has("ffn_gate-0") && names.has("ffn_swiglu-3"));
  assert.ok(splitText(text, names).filter((part) => part.step !== undefined).length >= 8);
});

test("what to change to fit: known changes, the fewest holders first", () => {
  const {explain} = samplePage({tensors: 300}).plans[0];
  const answer = (bytes) => answerFor(explain, bytes, [explain.peak_bytes]);
  assert.equal(answer(explain.peak_bytes).over, 0);
  assert.equal(answer(explain.peak_bytes - 5).over, 5);
  const near = answer(explain.peak_bytes * 0.95);
  assert.equal(near.constraints.length, 0);
  assert.deepEqual(near.shrinks, [explain.gains[0], explain.gains[1]].sort((a, b) => a.peak_bytes - b.peak_bytes));
  assert.equal(answer(explain.peak_bytes * 0.97).constraints[0].constraint, "outputs kept to the end");
  explain.budget = {budget_bytes: 5000, fits: false, constraints: [], together: ["alignment", "streams"], together_peak_bytes: 4999,
                    shrink: null, reason: ""};
  assert.deepEqual(answer(5000).together, {constraints: ["alignment", "streams"], peak: 4999});
  assert.equal(answer(4000).together, null);
  explain.budget = null;
  const none = answer(1000);
  assert.deepEqual([none.shrinks, none.impossible], [[], explain.largest_op]);
  assert.equal(none.least, explain.gains[0].peak_bytes);
});

test("of several memories each must fit, and sums of peaks say nothing about that", () => {
  const {explain} = samplePage({tensors: 300}).plans[0];
  const needs = [explain.peak_bytes * 0.6, explain.peak_bytes * 0.4];
  assert.equal(answerFor(explain, needs[0], needs).over, 0);
  const short = answerFor(explain, needs[0] - 1, needs);
  assert.deepEqual([short.over, short.shrinks, short.constraints, short.least], [1, [], [], null]);
  explain.budget = {budget_bytes: needs[0] - 1, fits: false, constraints: ["alignment"], together: [], together_peak_bytes: null,
                    shrink: explain.gains[0], reason: ""};
  const asked = answerFor(explain, needs[0] - 1, needs);
  assert.deepEqual([asked.shrinks, asked.constraints.map((cost) => cost.constraint)], [[explain.gains[0]], ["alignment"]]);
  assert.deepEqual(answerFor(explain, needs[0] - 2, needs).shrinks, []);
});

test("how far holders must shrink is the least that every full step allows", () => {
  const live = [40, 100, 90, 40];
  const holders = [{steps: [0, 2], bytes: 40}, {steps: [2, 3], bytes: 30}];
  const part = (bytes, more) => partThatFits({live, most: 100, peak: 60, ...more}, holders, bytes);
  assert.equal(part(80), 0.5);
  assert.equal(part(75), 0.375);
  assert.equal(part(66), 1 - 34 / 40);
  assert.equal(part(120), 1);
  assert.equal(part(60), 0);
  assert.equal(part(59), null, "not even without them");
  assert.equal(part(80, {peak: 58}), null, "live bytes do not explain what planning without them gave");
  assert.equal(part(80, {most: 104}), null, "nor a peak that has holes");
  assert.equal(partThatFits({live, most: 100, peak: 90}, [{steps: [1, 2], bytes: 40}], 80), null, "another step is too full");
});

test("sizes as people type them", () => {
  const cases = [["64", 64 * 2 ** 20], ["64 MiB", 64 * 2 ** 20], ["1.5g", 1.5 * 2 ** 30], ["70000 B", 70000], ["12 KB", 12000],
                 ["3MB", 3e6], ["12 kib", 12288], ["6500000", 6500000], ["81920", 81920 * 2 ** 20], ["much", null], ["", null], ["-3", null]];
  for (const [text, bytes] of cases) assert.equal(parseSize(text, 7225344), bytes, text);
  assert.equal(parseSize("40", 55296), 40 * 1024, "a number alone has the unit of the peak");
  assert.equal(parseSize("40", 2 * 2 ** 30), 40 * 2 ** 30);
});

test("families and gaps", () => {
  const holders = [{name: "a-0", family: "a-*", bytes: 1}, {name: "b", family: "b", bytes: 9}, {name: "a-1", family: "a-*", bytes: 1}];
  assert.deepEqual(familiesOf(holders).map(({family, holders: list}) => [family, list.length]), [["b", 1], ["a-*", 2]]);
  assert.equal(gapText(100, 100), "smallest possible (proven)");
  assert.equal(gapText(107, 100), "7.0% above the bound");
});

test("walking goes from holder to holder by address", () => {
  const plan = smallPlan();
  const live = liveSet(indexPieces(plan, 0), 1);
  assert.equal(neighbour(live, 0, 1), 1);
  assert.equal(neighbour(live, 1, 1), 2);
  assert.equal(neighbour(live, 2, 1), 2);
  assert.equal(neighbour(live, -1, -1), 2);
  assert.equal(neighbour([], -1, 1), -1);
});

test("keys with ctrl, meta or alt are the browser's, signs that need alt are not", () => {
  const of = (key, held) => Boolean(isBrowsers({key, ctrlKey: false, metaKey: false, altKey: false, ...held}));
  for (const key of ["d", "D", "0", "ArrowLeft"]) assert.deepEqual([of(key), of(key, {altKey: true})], [false, true], key);
  for (const key of ["[", "]", "−", "/"]) assert.equal(of(key, {altKey: true}), false, key);
  assert.ok(of("c", {ctrlKey: true}) && of("c", {metaKey: true}));
});

test("the sample of a difference has plans that read", () => {
  for (const json of sampleDiffPage({tensors: 200}).plans) assert.ok(readPlan(json, 0).holders.count > 100);
});
