// What a stage needs to know about a plan and an arena, computed once: index, live bytes, peaks, categories, pixel
// values.

import {categorise, categoryColours, pixelColours} from "./colour.js";
import {THEMES} from "./palette.js";
import {fullRuns, fullestStep, indexPieces, liveBytes, liveSet} from "./pieces.js";

const WITHIN = 0.01;

// The parts of an arena that do not depend on colours.
export function arenaFacts(plan, number) {
  const arena = plan.arenas[number];
  if (!arena.facts) {
    const index = indexPieces(plan, number);
    const live = bridged(liveBytes(index, plan.steps), plan.isGap);
    const at = fullestStep(live);
    arena.facts = {index, live, most: live[at] || 0, at, peakSet: liveSet(index, at), peaks: bindingPeaks(plan, arena, live)};
  }
  return arena.facts;
}

// Where no op of the plan runs, what is live is what was live before.
function bridged(live, gaps) {
  if (!gaps) return live;
  const start = gaps.indexOf(0);
  for (let step = 0; step < live.length; step += 1) if (gaps[step]) live[step] = step < start ? live[start] : live[step - 1];
  return live;
}

// The share of the most live bytes within which a step binds.
export function withinOf(plan) {
  return plan.explain ? plan.explain.within : WITHIN;
}

// Those of the explanation if it has them all and is about this plan (with a capacity it is about another one); else
// the runs of steps near the most live bytes.
function bindingPeaks(plan, arena, live) {
  const story = plan.explain && plan.explain.arenas.find((each) => each.name === arena.name && each.kind === arena.kind);
  const whole = story && story.peaks.length > 0 && (story.peaks.length >= story.peak_count || story.concurrent);
  if (whole && story.peaks.every((peak) => (story.concurrent ? peak.at < live.length : live[peak.at] === peak.live_bytes))) {
    return story.peaks.map((peak) => ({first: peak.steps[0], end: peak.steps[1], at: peak.at, live: peak.live_bytes, op: peak.op,
                                       kind: peak.kind}));
  }
  return fullRuns(live, withinOf(plan));
}

// The categories and colours of arenas that are shown together: [{plan, number}]; see categorise.
export function makeLook(shown, colouring, theme) {
  const parts = shown.map(({plan, number}) => ({plan, arena: number, peakSet: arenaFacts(plan, number).peakSet}));
  const {list, of} = categorise(parts, colouring);
  return {theme, list, of, colours: categoryColours(list, colouring, theme)};
}

// Part `at` of a look, as a stage shows it. `more` is {lit (by holder) or null, limits, ghost, fit: the size asked for
// instead of the capacity, or null}.
export function makeScene(plan, number, look, at, more) {
  const arena = plan.arenas[number];
  const {theme, list, colours} = look;
  return {
    plan,
    arena,
    ...arenaFacts(plan, number),
    categories: list,
    categoryOf: look.of[at],
    colours,
    pixels: pixelColours(look.of[at], colours, theme, more.lit),
    capacity: roomFor(plan, arena, typeof more.fit === "number" ? more.fit : plan.capacity),
    theme: THEMES[theme],
    ...more,
  };
}

// The capacity minus the other arenas of the same memory; null: there is no limit.
function roomFor(plan, arena, capacity) {
  if (capacity === null || !arena.counts) return null;
  const others = fitOf(plan).find((each) => each.memory === arena.memory).bytes - arena.size;
  return Math.max(capacity - others, 0);
}

// By memory: what its arenas that count need together, against the capacity. [{memory, bytes, fits}].
export function fitOf(plan) {
  const needs = new Map();
  for (const arena of plan.arenas) if (arena.counts) needs.set(arena.memory, (needs.get(arena.memory) || 0) + arena.size);
  return [...needs].map(([memory, bytes]) => ({memory, bytes, fits: plan.capacity === null || bytes <= plan.capacity}));
}

// Arenas of all plans, by name: [{name, kind, arenas: [number in each plan or −1]}], in the order of the first plan.
export function arenaTabs(plans) {
  const tabs = [];
  plans.forEach((plan, at) => {
    for (const arena of plan.arenas) {
      const free = (tab) => tab.name === arena.name && tab.kind === arena.kind && tab.arenas[at] === -1;
      let tab = tabs.find(free);
      if (!tab) {
        tab = {name: arena.name, kind: arena.kind, arenas: plans.map(() => -1)};
        tabs.push(tab);
      }
      tab.arenas[at] = arena.number;
    }
  });
  return tabs;
}
