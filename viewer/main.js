// Starts the page: decode, build, restore what the address says. `window.stowage` is for tests and the curious.

import {App} from "./app.js";
import {COLOURINGS} from "./colour.js";
import {readFragment} from "./fragment.js";
import {decodePage, readPage} from "./model.js";
import {visitSpan} from "./pieces.js";
import {ReplayPage} from "./replay_page.js";
import {Shell} from "./shell.js";

function preferredTheme() {
  return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

// What of a fragment fits this page.
function usable(wanted, page) {
  const state = {theme: wanted.theme || preferredTheme(), themeChosen: Boolean(wanted.theme)};
  const planOf = (pair) => (pair ? page.plans[pair.plan] : undefined);
  if (["0", "1", "both"].includes(wanted.mode) && page.plans.length === 2) state.mode = wanted.mode;
  if (wanted.colour in COLOURINGS && (wanted.colour !== "change" || page.diff)) state.colour = wanted.colour;
  if (["why", "selection", "changes"].includes(wanted.panel)) state.panel = wanted.panel;
  if (planOf(wanted.selected) && wanted.selected.holder < planOf(wanted.selected).holders.count) state.selected = wanted.selected;
  if (planOf(wanted.step) && wanted.step.step < planOf(wanted.step).steps) state.step = wanted.step;
  return state;
}

function restore(app, wanted) {
  if (wanted.tab < app.tabs.length) app.state.tab = wanted.tab;
  if (wanted.query !== app.state.query) app.search(wanted.query);
  else app.refresh(false);
  app.stages.forEach((stage, at) => {
    if (stage.scene && wanted.views[at]) stage.setView(wanted.views[at], false);
  });
}

function startPlans(page, head, main) {
  const wanted = readFragment(location.hash);
  const app = new App(page, usable(wanted, page));
  document.documentElement.dataset.theme = app.state.theme;
  for (const stage of app.stages) stage.still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const shell = new Shell(app, head, main);
  restore(app, wanted);
  shell.showAll();
  window.addEventListener("hashchange", () => {
    if (location.hash === shell.fragment) return;
    const next = readFragment(location.hash);
    Object.assign(app.state, {selected: null, step: null}, usable(next, page));
    document.documentElement.dataset.theme = app.state.theme;
    restore(app, next);
    shell.showAll();
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    if (!app.state.themeChosen) app.setTheme(preferredTheme());
  });
  return app;
}

function startReplay(page, head, main) {
  const wanted = readFragment(location.hash);
  const theme = wanted.theme || preferredTheme();
  document.documentElement.dataset.theme = theme;
  return new ReplayPage(page, head, main, theme, wanted);
}

function describeStage(stage) {
  if (!stage.scene) return null;
  const {index, peaks, arena, box, view} = stage.scene;
  let seen = 0;
  visitSpan(index, Math.floor(view.x0), Math.ceil(view.x1), (i) => {
    if (index.low[i] < view.y1 && index.low[i] + index.size[i] > view.y0) seen += 1;
  });
  return {holders: stage.plan.holders.count, rectangles: index.count, visible: seen, view: {...stage.target}, peaks: peaks.length,
          arena: arena.name, box, moving: stage.moving || stage.dirty.base,
          paint: stage.paintTime};
}

// For tests: plain values, read when asked for.
function describe(app) {
  return {state: JSON.parse(JSON.stringify(app.state)), stages: app.stages.map(describeStage), frames: {...app.frames},
          hover: app.hover ? {holder: app.hover.holder, step: app.hover.step} : null};
}

async function start() {
  const started = performance.now();
  const data = document.getElementById("stowage-data");
  const page = readPage(await decodePage(data.textContent));
  data.remove();
  const [head, main, message] = ["head", "main", "message"].map((id) => document.getElementById(id));
  message.hidden = true;
  head.hidden = main.hidden = false;
  const read = performance.now();
  const app = page.plans.length > 0 ? startPlans(page, head, main) : startReplay(page, head, main);
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  return {app, times: {started, read, painted: performance.now()}};
}

function fail(error) {
  const message = document.getElementById("message");
  message.hidden = false;
  message.textContent = `This page cannot be shown: ${error.message}`;
  throw error;
}

const whenReady = start().catch(fail);
window.stowage = {
  ready: whenReady.then(({times}) => times),
  look: () => whenReady.then(({app}) => (app.stages ? describe(app) : {view: {...app.chart.view}, events: app.chart.replay.events})),
};
