// Colours, scenes, the difference of plans, the address, and the files.

import assert from "node:assert/strict";
import test from "node:test";
import {COLOURINGS, roleOf} from "../colour.js";
import {CHANGES, matchChanges} from "../compare.js";
import {stageBox, xOf, yOf, linesOf} from "../draw.js";
import {fileName, stagesSvg} from "../export.js";
import {readFragment, writeFragment} from "../fragment.js";
import {readPage, readPlan} from "../model.js";
import {categoryColour, inkOn, mixColours, parseColour, toHex, toPixel} from "../palette.js";
import {sampleAt, samplesIn, replayFacts} from "../replay.js";
import {arenaFacts, arenaTabs, fitOf, makeLook, makeScene, withinOf} from "../scenes.js";
import {Shell} from "../shell.js";
import {sampleDiffPage, samplePage, sampleReplayPage} from "./sample.js";
import {smallColumns, smallPlan} from "./small.js";

function sceneOf(plan, colouring, theme, more) {
  const look = makeLook([{plan, number: 0}], colouring, theme);
  const limits = {steps: plan.steps, bytes: plan.arenas[0].size};
  return {...makeScene(plan, 0, look, 0, {lit: null, ghost: null, limits, ...more}),
          view: {x0: 0, x1: limits.steps, y0: 0, y1: limits.bytes}, box: stageBox(800, 500)};
}

test("bytes of the legend are those at the fullest step, and sum to it", () => {
  for (const colouring of ["kind", "scope", "role", "size", "alias"]) {
    const {list} = makeLook([{plan: smallPlan(), number: 0}], colouring, "light");
    assert.equal(list.reduce((sum, category) => sum + category.bytes[0], 0), 256, colouring);
  }
});

test("roles", () => {
  const plan = smallPlan();
  assert.deepEqual([0, 1, 2, 3].map((holder) => roleOf(plan, holder)), ["graph input", "tensor", "workspace", "graph output"]);
  plan.tensors.role[2] = 8;
  assert.equal(COLOURINGS.role.labelOf(plan, 1), "kept to the end");
});

test("one colour means one thing in both plans", () => {
  const {plans} = readPage(sampleDiffPage({tensors: 200}));
  const look = makeLook(plans.map((plan) => ({plan, number: 0})), "kind", "light");
  plans.forEach((plan, at) => {
    for (let holder = 0; holder < plan.holders.count; holder += 1) {
      if (plan.holders.arena[holder] === 0) assert.equal(look.list[look.of[at][holder]].label, COLOURINGS.kind.labelOf(plan, holder));
    }
  });
});

test("base colours differ from each other and the background, in both themes and without red-green sight", () => {
  // Deuteranopia after Viénot, Brettel and Mollon (1999), in linear light.
  const linear = (value) => (value / 255) ** 2.2;
  const seen = (rgb) => {
    const [r, g, b] = rgb.map(linear);
    return [0.29275 * r + 0.70725 * g, 0.29275 * r + 0.70725 * g,
            -0.02234 * r + 0.02234 * g + b].map((value) => 255 * Math.max(value, 0) ** (1 / 2.2));
  };
  for (const [theme, background] of [["light", "#ffffff"], ["dark", "#14181c"]]) {
    const colours = [parseColour(background), ...Array.from({length: 7}, (_, rank) => categoryColour(rank, theme))];
    for (const [i, a] of colours.entries()) {
      for (const b of colours.slice(i + 1)) {
        const away = Math.hypot(...seen(a).map((value, at) => value - seen(b)[at]));
        assert.ok(away > 22, `${theme}: ${toHex(a)} and ${toHex(b)}: ${away.toFixed(0)}`);
      }
    }
  }
});

test("colours convert", () => {
  assert.equal(toHex(parseColour("#0a7fff")), "#0a7fff");
  assert.equal(toPixel([1, 2, 3]), 0xff030201);
  assert.deepEqual(mixColours([0, 100, 200], [100, 100, 100], 0.5), [50, 100, 150]);
  assert.equal(inkOn([255, 255, 255]), "#14181c");
  assert.equal(inkOn([0, 0, 80]), "#ffffff");
});

test("dimmed holders are paler than lit ones", () => {
  const plan = smallPlan();
  const {pixels} = sceneOf(plan, "kind", "light", {lit: Uint8Array.from([1, 0, 0, 0])});
  const bright = sceneOf(plan, "kind", "light").pixels;
  assert.equal(pixels.fill[0], bright.fill[0]);
  assert.ok((pixels.fill[1] & 255) > (bright.fill[1] & 255));
  assert.notEqual(pixels.version, bright.version);
});

test("peaks are the explanation's where it has all, else runs of steps", () => {
  const [full] = readPage(samplePage({tensors: 300})).plans;
  assert.equal(arenaFacts(full, 0).peaks.length, full.explain.arenas[0].peaks.length);
  const [cut] = readPage(samplePage({tensors: 300})).plans;
  cut.explain.arenas[0].peaks.length = 2;
  assert.equal(arenaFacts(cut, 0).peaks.length, full.explain.arenas[0].peak_count);
});

test("an explanation of another plan says nothing about the peaks of this one", () => {
  const [own] = readPage(samplePage({tensors: 300})).plans;
  const page = samplePage({tensors: 300});
  for (const peak of page.plans[0].explain.arenas[0].peaks) Object.assign(peak, {at: peak.at + 7, steps: peak.steps.map((step) => step + 7)});
  const [other] = readPage(page).plans;
  assert.deepEqual(arenaFacts(other, 0).peaks.map((peak) => peak.at), arenaFacts(own, 0).peaks.map((peak) => peak.at));
  for (const peak of arenaFacts(other, 0).peaks) assert.equal(peak.live, arenaFacts(other, 0).live[peak.at]);
});

test("every place that binds is there, as near to the most as the explanation was asked for", () => {
  const saw = smallColumns();
  const count = 6000;
  Object.assign(saw, {steps: count, holders: {...saw.holders}, pieces: {first: [], end: [], low: [], size: []}});
  for (const column of Object.keys(saw.holders)) saw.holders[column] = [saw.holders[column][0]];
  Object.assign(saw.holders, {first: [0], end: [count], piece_count: [count]});
  saw.tensors.holder = [0, -1, -1, -1];
  for (let step = 0; step < count; step += 1) {
    saw.pieces.first.push(step);
    saw.pieces.end.push(step + 1);
    saw.pieces.low.push(0);
    saw.pieces.size.push(step % 2 === 0 ? 64 : 60);
  }
  assert.equal(arenaFacts(readPlan(saw, 0), 0).peaks.length, count / 2);
  saw.explain = {within: 0.1, arenas: []};
  const plan = readPlan(saw, 0);
  assert.equal(withinOf(plan), 0.1);
  assert.equal(arenaFacts(plan, 0).peaks.length, 1);
});

test("a capacity is of each memory, over the arenas that count", () => {
  const plan = smallPlan();
  plan.capacity = 255;
  assert.deepEqual(fitOf(plan), [{memory: "cpu", bytes: 256, fits: false}]);
  const [large] = readPage(samplePage({tensors: 100, capacity: 1e9})).plans;
  assert.deepEqual(fitOf(large), [{memory: "cpu", bytes: large.arenas[0].size, fits: true}]);
  assert.deepEqual(linesOf(sceneOf(plan, "kind", "light")).map((line) => line.label), ["peak = bound 256 B", "capacity 255 B"]);
  const asked = makeScene(plan, 0, makeLook([{plan, number: 0}], "kind", "light"), 0, {lit: null, fit: 100});
  assert.equal(linesOf(asked)[1].label, "asked 100 B", "what is asked for takes the capacity's place");
  // Another arena of the same memory: what is too much is so in both maps.
  plan.capacity = 300;
  plan.arenas.push({...plan.arenas[0], number: 1, name: "fixed", size: 100});
  assert.equal(fitOf(plan)[0].fits, false);
  assert.deepEqual(linesOf(sceneOf(plan, "kind", "light")).map((line) => line.label), ["peak = bound 256 B", "left of the capacity 200 B"]);
});

test("arenas of two plans are joined by name", () => {
  const plans = [smallPlan(), smallPlan()];
  plans[1].arenas = [{...plans[1].arenas[0], name: "gpu"}, {...plans[1].arenas[0], number: 1}];
  assert.deepEqual(arenaTabs(plans).map((tab) => [tab.name, ...tab.arenas]), [["cpu", 0, 1], ["gpu", -1, 0]]);
});

test("changes find their holders on both sides", () => {
  const page = readPage(sampleDiffPage({tensors: 300}));
  const entries = matchChanges(page);
  assert.ok(entries.length > 20);
  for (const entry of entries) {
    assert.ok(CHANGES.includes(entry.change));
    assert.equal(entry.holders[0] < 0, entry.before === null, entry.name);
    assert.equal(entry.holders[1] < 0, entry.after === null, entry.name);
  }
  const grown = entries.find((entry) => entry.name === "ffn_up-0");
  assert.equal(page.plans[0].changes[grown.holders[0]], "grew");
  assert.equal(page.plans[1].changes.filter((change) => change === "appeared").length,
               entries.filter((entry) => entry.change === "appeared").length);
});

test("a fragment says what it was written from; nonsense says nothing", () => {
  const state = {mode: "both", tab: 2, views: [{x0: 1.25, x1: 20, y0: 0, y1: 4096}, {x0: 1, x1: 2, y0: 3, y1: 4}],
                 selected: {plan: 1, holder: 7}, step: {plan: 0, step: 3}, group: {plan: 0, holders: [3, 12]}, fit: 6500000,
                 query: "a&b=(#", colour: "scope",
                 panel: "why", theme: "dark"};
  assert.deepEqual(readFragment(`#${writeFragment(state)}`), state);
  const empty = readFragment("#view=1,2,x,4&holder=a.b&arena=-1&theme=pink&step=3&group=0.x.1&fit=6MiB");
  assert.deepEqual([empty.views, empty.selected, empty.tab, empty.theme, empty.step, empty.group, empty.fit],
                   [[null, null], null, 0, null, null, null, null]);
  assert.equal(readFragment("#group=0.3").group, null, "one holder is no group");
});

test("steps and bytes lie where the map has them", () => {
  const scene = sceneOf(smallPlan(), "kind", "light");
  assert.equal(xOf(scene, 0), scene.box.left);
  assert.equal(xOf(scene, 4), scene.box.right);
  assert.equal(yOf(scene, 256), scene.box.map.top);
});

test("SVG has every visible rectangle, with its name, and nothing that a name brought in", () => {
  const [plan] = readPage(samplePage({tensors: 40, hostile: true})).plans;
  const svg = stagesSvg([{scene: sceneOf(plan, "kind", "dark"), marks: {selected: 1, step: 3, hover: null, pointed: [2]}}], "a </title> & \u0001");
  assert.ok(svg.startsWith("<?xml"));
  assert.match(svg, /<title>a &lt;\/title&gt; &amp; \ufffd<\/title>/);
  assert.match(svg, /<title>&lt;\/script&gt;&lt;script&gt;window/);
  assert.doesNotMatch(svg, /<script|<img|onerror="|[\u0000-\u0008]/);
  const boxes = (svg.match(/<title>[^<]*iB<\/title>/g) || []).length + (svg.match(/M[\d.-]+ [\d.-]+h/g) || []).length;
  assert.equal(boxes, arenaFacts(plan, 0).index.count);
});

test("where there is no map, none is saved", () => {
  const shell = {app: {page: {title: "none"}, shownStages: [{scene: null}]}};
  Shell.prototype.savePng.call(shell);
  Shell.prototype.saveSvg.call(shell);
});

test("names of files are harmless", () => {
  assert.equal(fileName("../../etc/pass wd.json.gz", "png"), "etc_pass_wd.png");
  assert.equal(fileName("</title>", "svg"), "title_.svg");
  assert.equal(fileName("שלום", "svg"), "stowage.svg");
});

test("samples of a replay", () => {
  assert.deepEqual(samplesIn([0, 10, 20, 30], 12, 18), [1, 3]);
  assert.deepEqual(samplesIn([0, 10, 20, 30], 0, 30), [0, 4]);
  assert.equal(sampleAt([0, 10, 20], 19), 1);
  const {replay} = sampleReplayPage();
  const {event, facts} = replayFacts(replay, 171);
  assert.equal(event, 170);
  assert.equal(facts.length, 4);
});
