// The tooltip at the pointer. Hidden from screen readers, which have the live region.

import {el, replace} from "./dom.js";
import {exactBytes, humanBytes, percent, plural, shorten} from "./format.js";
import {holderName, stepName} from "./model.js";
import {factsOf, opPart} from "./story.js";

export class Tooltip {
  constructor() {
    this.root = el("div", {class: "tooltip", "aria-hidden": "true"});
    this.root.hidden = true;
  }

  hide() {
    this.root.hidden = true;
  }

  showHolder(plan, holder, step, event) {
    const facts = factsOf(plan, holder, step).map(([label, words]) => [el("dt", {}, label),
                                                                       el("dd", {}, el("bdi", {}, shorten(words, 260)))]);
    replace(this.root, el("div", {class: "tooltip-title"}, el("bdi", {}, shorten(holderName(plan, holder), 120))),
            el("dl", {class: "facts"}, facts));
    this.place(event);
  }

  showStep(scene, step, event) {
    const live = scene.live[step];
    const facts = [["live", `${humanBytes(live)} (${exactBytes(live)})`], ["of the peak", percent(live, scene.arena.size)]];
    if (scene.ghost) facts.push(["other plan", humanBytes(scene.ghost.live[step] || 0)]);
    replace(this.root, el("div", {class: "tooltip-title"}, `${stepName(scene.plan, step)}: `, el("bdi", {}, shorten(opPart(scene.plan, step).text, 90))),
            el("dl", {class: "facts"}, facts.map(([label, words]) => [el("dt", {}, label), el("dd", {}, words)])));
    this.place(event);
  }

  showFacts(title, facts, event) {
    replace(this.root, el("div", {class: "tooltip-title"}, title),
            el("dl", {class: "facts"}, facts.map(([label, words]) => [el("dt", {}, label), el("dd", {}, words)])));
    this.place(event);
  }

  // Next to the pointer, inside the window.
  place(event) {
    this.root.hidden = false;
    const {offsetWidth, offsetHeight} = this.root;
    const right = event.clientX + 16 + offsetWidth < window.innerWidth;
    const below = event.clientY + 18 + offsetHeight < window.innerHeight;
    this.root.style.left = `${Math.max(4, right ? event.clientX + 16 : event.clientX - offsetWidth - 12)}px`;
    this.root.style.top = `${Math.max(4, below ? event.clientY + 18 : event.clientY - offsetHeight - 12)}px`;
  }
}

export function countWords(count, bytes) {
  return count === 0 ? "no hits" : `${plural(count, "hit")}, ${humanBytes(bytes)}`;
}
