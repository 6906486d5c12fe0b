// Converts the state of the page to the fragment of the address and back. No DOM; an invalid fragment is ignored.

import {COLOURINGS} from "./colour.js";

const MOST_GROUPED = 200;

// state: {mode, tab, views: [{x0, x1, y0, y1}], selected: {plan, holder} | null, step: {plan, step} | null,
// group: {plan, holders} | null, fit (bytes) | null, query, colour, panel, theme}
export function writeFragment(state) {
  const parts = new URLSearchParams();
  if (state.mode) parts.set("plan", state.mode);
  if (state.tab > 0) parts.set("arena", String(state.tab));
  state.views.forEach((view, at) => view && parts.set(at === 0 ? "view" : `view${at + 1}`,
                                                      [view.x0, view.x1, view.y0, view.y1].map(shortNumber).join(",")));
  if (state.selected) parts.set("holder", `${state.selected.plan}.${state.selected.holder}`);
  if (state.step) parts.set("step", `${state.step.plan}.${state.step.step}`);
  if (state.group) parts.set("group", [state.group.plan, ...state.group.holders.slice(0, MOST_GROUPED)].join("."));
  if (state.fit !== null && state.fit !== undefined) parts.set("fit", String(state.fit));
  if (state.query) parts.set("search", state.query);
  if (state.colour) parts.set("colour", state.colour);
  if (state.panel) parts.set("panel", state.panel);
  if (state.theme) parts.set("theme", state.theme);
  return parts.toString();
}

function shortNumber(number) {
  return String(Math.round(number * 100) / 100);
}

export function readFragment(text) {
  const parts = new URLSearchParams(text.replace(/^#/, ""));
  return {
    mode: parts.get("plan"),
    tab: wholeNumber(parts.get("arena")) || 0,
    views: [readView(parts.get("view")), readView(parts.get("view2"))],
    selected: readPair(parts.get("holder"), "holder"),
    step: readPair(parts.get("step"), "step"),
    group: readGroup(parts.get("group")),
    fit: wholeNumber(parts.get("fit")),
    query: parts.get("search") || "",
    colour: parts.get("colour"),
    panel: parts.get("panel"),
    theme: ["light", "dark"].includes(parts.get("theme")) ? parts.get("theme") : null,
  };
}

// The parts of the wanted state that exist in this page.
export function fitting(wanted, page) {
  const state = {};
  const planOf = (pair) => (pair ? page.plans[pair.plan] : undefined);
  if (["0", "1", "both"].includes(wanted.mode) && page.plans.length === 2) state.mode = wanted.mode;
  if (Object.hasOwn(COLOURINGS, wanted.colour) && (wanted.colour !== "change" || page.diff)) state.colour = wanted.colour;
  if (["why", "selection", "changes"].includes(wanted.panel)) state.panel = wanted.panel;
  if (planOf(wanted.selected) && wanted.selected.holder < planOf(wanted.selected).holders.count) state.selected = wanted.selected;
  if (planOf(wanted.step) && wanted.step.step < planOf(wanted.step).steps) state.step = wanted.step;
  if (planOf(wanted.group) && Math.max(...wanted.group.holders) < planOf(wanted.group).holders.count) state.group = wanted.group;
  if (wanted.fit !== null) state.fit = wanted.fit;
  return state;
}

function wholeNumber(text) {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

function readPair(text, key) {
  const [plan, number] = (text || "").split(".").map(wholeNumber);
  return plan === null || number === null || number === undefined ? null : {plan, [key]: number};
}

function readGroup(text) {
  const [plan, ...holders] = (text || "").split(".").map(wholeNumber);
  return plan === null || holders.length < 2 || holders.includes(null) ? null : {plan, holders: holders.slice(0, MOST_GROUPED)};
}

function readView(text) {
  const numbers = (text || "").split(",").map(Number);
  if (numbers.length !== 4 || numbers.some((each) => !Number.isFinite(each))) return null;
  const [x0, x1, y0, y1] = numbers;
  return x0 < x1 && y0 < y1 ? {x0, x1, y0, y1} : null;
}
