// Pointers and wheels on a stage: drag pans, the wheel zooms around the pointer, two fingers pinch, a click selects. Everything
// ends in calls of `actions`: moved(stage, view, smooth), hovered(stage, point | null, event), clicked(stage, point, event),
// opened(stage, point) for a double click.

import {panView, zoomView} from "./viewport.js";

const CLICK = 4;

// The position of a pointer in a view, by default the current one: {part: "curve" | "map" | "", step, byte, x, y}.
function pointOn(stage, event, seen) {
  const rect = stage.over.getBoundingClientRect();
  const {box} = stage.scene;
  const view = seen || stage.scene.view;
  const x = event.clientX - rect.left;
  const y = event.clientY - rect.top;
  const step = view.x0 + ((x - box.left) / box.mapWidth) * (view.x1 - view.x0);
  const byte = view.y1 - ((y - box.map.top) / box.map.height) * (view.y1 - view.y0);
  const inside = x >= box.left && x <= box.right;
  const part = inside && y >= box.map.top && y <= box.map.top + box.map.height ? "map" : inside && y < box.map.top ? "curve" : "";
  return {part, step, byte, x, y};
}

export function listen(stage, actions) {
  const pointers = new Map();
  let travelled = 0;
  const canvas = stage.over;
  const down = (event) => {
    if (!stage.scene || event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    if (pointers.size === 0) travelled = 0;
    pointers.set(event.pointerId, {x: event.clientX, y: event.clientY});
  };
  const move = (event) => {
    if (!stage.scene) return;
    const old = pointers.get(event.pointerId);
    if (!old) return actions.hovered(stage, pointOn(stage, event), event);
    travelled += Math.abs(event.clientX - old.x) + Math.abs(event.clientY - old.y);
    if (pointers.size === 2) pinch(stage, pointers, event, actions);
    else if (travelled > CLICK) drag(stage, old, event, actions);
    pointers.set(event.pointerId, {x: event.clientX, y: event.clientY});
    return undefined;
  };
  const up = (event) => {
    if (!pointers.delete(event.pointerId)) return;
    if (event.type === "pointerup" && travelled <= CLICK) actions.clicked(stage, pointOn(stage, event), event);
  };
  canvas.addEventListener("pointerdown", down);
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", (event) => pointers.size === 0 && actions.hovered(stage, null, event));
  canvas.addEventListener("dblclick", (event) => stage.scene && actions.opened(stage, pointOn(stage, event)));
  canvas.addEventListener("wheel", (event) => wheel(stage, event, actions), {passive: false});
}

function drag(stage, old, event, actions) {
  const {box, view, limits} = stage.scene;
  const steps = ((old.x - event.clientX) / box.mapWidth) * (view.x1 - view.x0);
  const bytes = ((event.clientY - old.y) / box.map.height) * (view.y1 - view.y0);
  actions.moved(stage, panView(view, limits, steps, bytes), false);
}

function pinch(stage, pointers, event, actions) {
  const [a, b] = [...pointers.values()];
  const other = pointers.get(event.pointerId) === a ? b : a;
  const old = pointers.get(event.pointerId);
  const before = Math.hypot(old.x - other.x, old.y - other.y);
  const after = Math.hypot(event.clientX - other.x, event.clientY - other.y);
  if (before < 8 || after < 8) return;
  const middle = pointOn(stage, {clientX: (event.clientX + other.x) / 2, clientY: (event.clientY + other.y) / 2});
  actions.moved(stage, zoomView(stage.scene.view, stage.scene.limits, middle, after / before, after / before), false);
}

// Shift: steps only; alt: bytes only. Otherwise both, bytes at half the rate, since graphs are usually longer than
// arenas are deep. Sideways wheels pan.
function wheel(stage, event, actions) {
  if (!stage.scene) return;
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
  const {limits, box} = stage.scene;
  const view = stage.target;
  const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) && !event.shiftKey;
  if (sideways) {
    actions.moved(stage, panView(view, limits, ((event.deltaX * lines) / box.mapWidth) * (view.x1 - view.x0), 0), false);
    return;
  }
  const delta = (event.deltaY || event.deltaX) * lines;
  const factor = Math.exp(-Math.min(Math.max(delta, -240), 240) * (event.ctrlKey ? 0.01 : 0.0022));
  const point = pointOn(stage, event, view);
  const at = {step: point.step, byte: point.part === "curve" ? (view.y0 + view.y1) / 2 : point.byte};
  const bytesToo = !event.shiftKey && point.part !== "curve";
  const factorY = event.ctrlKey || event.altKey ? factor : Math.sqrt(factor);
  actions.moved(stage, zoomView(view, limits, at, event.altKey ? 1 : factor, bytesToo ? factorY : 1), true);
}
