// Starts the page: decode, build, restore what the address says. `window.stowage` is for tests and the curious.

import {App} from "./app.js";
import {fitting, readFragment} from "./fragment.js";
import {endsSoon} from "./lookup.js";
import {decodePage, readPage} from "./model.js";
import {visitSpan} from "./pieces.js";
import {ReplayPage} from "./replay_page.js";
import {Shell} from "./shell.js";
import {SweepPage} from "./sweep_page.js";

function preferredTheme() {
  return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function stateOf(wanted, page) {
  return {theme: wanted.theme || preferredTheme(), themeChosen: Boolean(wanted.theme), ...fitting(wanted, page)};
}

// Shows what the address asks for. A search that might not end is only offered: it runs when the user presses Enter.
function restore(app, shell, wanted) {
  const runs = app.plans.every((plan) => endsSoon(wanted.query, plan.strings));
  const query = runs ? wanted.query : "";
  if (wanted.tab < app.tabs.length) app.state.tab = wanted.tab;
  if (query !== app.state.query) app.search(query);
  else app.refresh(false);
  app.stages.forEach((stage, at) => {
    if (stage.scene && wanted.views[at]) stage.setView(wanted.views[at], false);
  });
  shell.showAll();
  if (!runs) shell.offerSearch(wanted.query);
}

function startPlans(page, head, main) {
  const wanted = readFragment(location.hash);
  const app = new App(page, stateOf(wanted, page));
  document.documentElement.dataset.theme = app.state.theme;
  for (const stage of app.stages) stage.still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const shell = new Shell(app, head, main);
  restore(app, shell, wanted);
  window.addEventListener("hashchange", () => {
    if (location.hash === shell.fragment) return;
    const next = readFragment(location.hash);
    Object.assign(app.state, {selected: null, step: null, lit: null, group: null, fit: null}, stateOf(next, page));
    document.documentElement.dataset.theme = app.state.theme;
    restore(app, shell, next);
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    if (!app.state.themeChosen) app.setTheme(preferredTheme());
  });
  return app;
}

function startChart(page, head, main) {
  const wanted = readFragment(location.hash);
  const theme = wanted.theme || preferredTheme();
  document.documentElement.dataset.theme = theme;
  return page.sweep ? new SweepPage(page, head, main, theme, wanted) : new ReplayPage(page, head, main, theme, wanted);
}

function describeStage(stage) {
  if (!stage.scene) return null;
  const {index, peaks, arena, box, view} = stage.scene;
  let seen = 0;
  visitSpan(index, Math.floor(view.x0), Math.ceil(view.x1), (i) => {
    if (index.low[i] < view.y1 && index.low[i] + index.size[i] > view.y0) seen += 1;
  });
  const inArena = stage.plan.holders.arena.reduce((sum, each) => sum + (each === arena.number ? 1 : 0), 0);
  return {holders: stage.plan.holders.count, inArena, rectangles: index.count, visible: seen, view: {...stage.target}, peaks: peaks.length,
          arena: arena.name, box, steps: stage.plan.steps, moving: stage.moving || stage.dirty.base,
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
  const app = page.plans.length > 0 ? startPlans(page, head, main) : startChart(page, head, main);
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
  look: () => whenReady.then(({app}) => (app.stages ? describe(app) : app.look())),
};
