// The keyboard. Keys work wherever no text is being typed; the arrow keys where the map has the focus.

import {el} from "./dom.js";

const KEYS = [
  ["arrows", "pan"],
  ["+ −", "zoom in and out"],
  ["0", "show the whole arena"],
  ["shift + ← →", "previous, next step"],
  ["shift + ↑ ↓", "holder above, below at the step"],
  ["Enter", "select what is in the middle"],
  ["n p", "next, previous binding peak"],
  ["z", "zoom to the selection"],
  ["/", "search; Enter and shift + Enter: next and previous hit"],
  ["[ ]", "previous, next arena"],
  ["c", "next colouring"],
  ["d", "light or dark"],
  ["Esc", "clear search and selection"],
  ["?", "this help"],
];

const POINTER = [
  ["wheel, pinch", "zoom around the pointer; shift: steps only, alt: bytes only"],
  ["drag", "pan; in the strip below: move the frame"],
  ["click", "select a tensor; on the curve, or with shift: a step"],
  ["double click", "zoom to the tensor"],
];

const MAP = "Each rectangle is a holder: bytes that one or more tensors occupy, called by the largest of them, of several the first. Left to " +
            "right: the steps of execution during which it is live. Upwards: its addresses in the arena. The curve above shows the live " +
            "bytes; the peak is the size of the arena, and the bound is a size that no plan can beat.";
const TWO_MAPS = " Both maps have one scale, and an op that both plans have lies at the same place in both; grey columns are ops of the other plan.";

export function mapHelp(plans) {
  return helpDialog("How to read the map", plans > 1 ? MAP + TWO_MAPS : MAP, KEYS, POINTER);
}

export function helpDialog(title, text, keys, pointer) {
  const rows = (list) => el("dl", {class: "keys"}, list.map(([key, words]) => [el("dt", {}, key), el("dd", {}, words)]));
  const dialog = el("dialog", {class: "help", "aria-label": "Help"});
  dialog.append(el("h2", {}, title), el("p", {}, text),
    el("h2", {}, "Keys"), rows(keys), el("h2", {}, "Pointer"), rows(pointer),
    el("form", {method: "dialog"}, el("button", {class: "small"}, "Close")));
  return dialog;
}

// Keys that browsers use themselves, such as alt + D and alt + left. Some keyboard layouts type a sign with alt.
export function isBrowsers(event) {
  return event.ctrlKey || event.metaKey || (event.altKey && /^([a-z0-9]|Arrow.*)$/i.test(event.key));
}

// `actions` by key; a text field keeps its keys except for Escape, an open dialog keeps all of them.
export function listenKeys(actions) {
  document.addEventListener("keydown", (event) => {
    if (isBrowsers(event) || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (typing && event.key !== "Escape") return;
    const onMap = event.target.classList.contains("over");
    const arrows = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key];
    if (arrows || event.key === "Enter") {
      if (!onMap) return;
      event.preventDefault();
      if (!arrows) actions.enter();
      else if (event.shiftKey) actions.walk(...arrows);
      else actions.pan(...arrows);
      return;
    }
    const action = actions.keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
