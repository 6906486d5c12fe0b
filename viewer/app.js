// The state of the page and what changes it. Components (panels, legend, toolbar) are filled from here and call back into `go`.
// Drawing happens in one place, frame(), at most once per frame of the screen.

import {COLOURINGS} from "./colour.js";
import {matchChanges} from "./compare.js";
import {replace} from "./dom.js";
import {humanBytes} from "./format.js";
import {listen} from "./gestures.js";
import {litGroup, pointAt, showGroup} from "./group.js";
import {groupLayers} from "./layers.js";
import {fillLegend} from "./legend.js";
import {findHolder, findOp, searchHolders} from "./lookup.js";
import {Minimap} from "./minimap.js";
import {holderBox, opName, stepName} from "./model.js";
import {drawMarks, mapLabel} from "./overlay.js";
import {liveSet, pieceAt} from "./pieces.js";
import {arenaFacts, arenaTabs, makeLook, makeScene} from "./scenes.js";
import {Stage} from "./stage.js";
import {spoken} from "./story.js";
import {Tooltip, countWords} from "./tooltip.js";
import {viewAround, viewAtSteps, wholeView} from "./viewport.js";
import {goToPeak} from "./walk.js";

// By op kind if there are several; a table (.csv) has none.
function usualColouring(plan) {
  const {kind, count} = plan.holders;
  return count > 0 && kind.every((each) => each === kind[0]) ? "size" : "kind";
}

export class App {
  constructor(page, state) {
    this.page = page;
    this.plans = page.plans;
    this.tabs = arenaTabs(page.plans);
    groupLayers(this.plans);
    this.changes = page.diff && page.plans.length === 2 ? matchChanges(page) : null;
    this.state = {mode: this.plans.length === 2 ? "both" : "0", tab: 0, colour: this.changes ? "change" : usualColouring(page.plans[0]),
                  query: "", lit: null,
                  selected: null, step: null, group: null, fit: null, panel: this.changes ? "changes" : "why", theme: "light", ...state};
    this.hover = null;
    this.pointed = null;
    this.found = this.plans.map(() => null);
    this.tooltip = new Tooltip();
    this.frames = {drawn: 0, last: 0, longest: 0, paint: 0};
    this.stages = this.plans.map((plan) => new Stage(plan, "Memory map"));
    this.minimaps = this.stages.map((stage) => new Minimap(stage, (moved, view) => this.move(moved, view, false)));
    this.observers = [];
    this.asked = false;
    for (const stage of this.stages) listen(stage, this.gestureActions());
  }

  // Calls the observer with what has changed: "view", "marks", "look", "selection", "search" or "tab".
  observe(observer) {
    this.observers.push(observer);
  }

  tell(what) {
    for (const observer of this.observers) observer(what);
  }

  get shownStages() {
    return this.stages.filter((stage, at) => this.state.mode === "both" || this.state.mode === String(at));
  }

  // The stage that keys act on: the one with the focus, or the first.
  get current() {
    const focused = this.shownStages.find((stage) => stage.over === document.activeElement);
    return focused || this.shownStages[this.shownStages.length - 1];
  }

  arenaOf(at) {
    const tab = this.tabs[this.state.tab];
    return tab ? tab.arenas[at] : -1;
  }

  // ---------------------------------------------------------------------------------------------- scenes

  // Rebuilds the scenes for another arena, colouring, theme or search. The view is kept if the arena is the same.
  refresh(keepView) {
    const shown = this.plans.map((plan) => ({plan, number: this.arenaOf(plan.number)})).filter(({number}) => number >= 0);
    this.look = makeLook(shown, this.state.colour, this.state.theme);
    // Two maps have one scale: the same height is the same number of bytes.
    const steps = Math.max(1, ...this.plans.map((plan) => plan.steps));
    const bytes = Math.max(1, ...shown.map(({plan, number}) => plan.arenas[number].size));
    this.stages.forEach((stage, at) => {
      const part = shown.findIndex(({plan}) => plan.number === at);
      stage.root.classList.toggle("empty", part < 0);
      if (part < 0) stage.scene = null;
      else this.refreshStage(stage, shown[part].number, part, {keepView, steps, bytes});
    });
    this.ask();
    this.tell("look");
  }

  refreshStage(stage, number, part, {keepView, steps, bytes}) {
    const at = stage.plan.number;
    const more = {lit: this.litOf(at, number), ghost: this.ghostOf(at),
                  fit: this.state.fit,
                  limits: {steps, bytes}};
    const view = keepView && stage.scene ? stage.target : null;
    stage.show(makeScene(stage.plan, number, this.look, part, more), view);
    stage.over.setAttribute("aria-label", mapLabel(stage.scene, stage.plan.label));
  }

  // The other plan's live bytes in the same arena.
  ghostOf(at) {
    const other = 1 - at;
    if (this.plans.length !== 2 || this.arenaOf(other) < 0) return null;
    const facts = arenaFacts(this.plans[other], this.arenaOf(other));
    return {live: facts.live, most: facts.most};
  }

  // Combines search, group and legend; null: everything is highlighted.
  litOf(at, number) {
    const {group} = this.state;
    const hits = group && group.plan === at ? litGroup(this.plans[at], group.holders) : this.found[at] ? this.found[at].lit : null;
    if (this.state.lit === null) return hits;
    const plan = this.plans[at];
    const lit = new Uint8Array(plan.holders.count);
    const {labelOf} = COLOURINGS[this.state.colour];
    for (let holder = 0; holder < lit.length; holder += 1) {
      if (plan.holders.arena[holder] !== number || labelOf(plan, holder) !== this.state.lit) continue;
      lit[holder] = hits ? hits[holder] : 1;
    }
    return lit;
  }

  // ---------------------------------------------------------------------------------------------- frames

  ask() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame((now) => this.frame(now));
  }

  frame(now) {
    this.asked = false;
    const start = performance.now();
    let again = false;
    for (const stage of this.shownStages) again = stage.frame(now, (own, painter) => this.drawOver(own, painter)) || again;
    for (const minimap of this.minimaps) minimap.update();
    const took = performance.now() - start;
    this.frames.drawn += 1;
    this.frames.last = took;
    this.frames.longest = Math.max(this.frames.longest, took);
    if (again) this.ask();
    this.tell("view");
  }

  drawOver(stage, painter) {
    if (stage.scene) drawMarks(painter, stage.scene, this.marksOf(stage));
  }

  marksOf(stage) {
    const at = stage.plan.number;
    const {selected, step} = this.state;
    return {hover: this.hover && this.hover.stage === stage ? this.hover : null,
            pointed: this.pointed && this.pointed.plan === at ? this.pointed.holders : [],
            selected: selected && selected.plan === at ? selected.holder : null,
            step: step && (step.plan === at || this.state.mode === "both") ? step.step : null};
  }

  touchMarks() {
    for (const stage of this.stages) stage.dirty.over = true;
    this.ask();
  }

  // ---------------------------------------------------------------------------------------------- moving

  // The tooltip no longer matches what is under the pointer.
  move(stage, view, smooth) {
    this.tooltip.hide();
    stage.setView(view, smooth);
    for (const other of this.stages) {
      if (other !== stage && other.scene) other.setView(stage.target, smooth);
    }
    this.ask();
  }

  gestureActions() {
    return {
      moved: (stage, view, smooth) => this.move(stage, view, smooth),
      hovered: (stage, point, event) => this.hovered(stage, point, event),
      clicked: (stage, point, event) => this.clicked(stage, point, event),
      opened: (stage, point) => {
        const holder = this.holderAt(stage, point);
        if (holder >= 0) this.move(stage, viewAround(holderBox(stage.plan, holder), stage.scene.limits), true);
      },
    };
  }

  // The holder under a pointer, −1 where there is none. Within two pixels, since some are smaller than one.
  holderAt(stage, point) {
    if (point.part !== "map") return -1;
    const {view, box, index} = stage.scene;
    const nearX = ((view.x1 - view.x0) / box.mapWidth) * 1.5;
    const nearY = ((view.y1 - view.y0) / box.map.height) * 1.5;
    const found = pieceAt(index, point, {first: point.step - nearX, end: point.step + nearX, low: point.byte - nearY,
                                         high: point.byte + nearY});
    return found < 0 ? -1 : index.holder[found];
  }

  hovered(stage, point, event) {
    const step = point && point.part ? Math.floor(point.step) : -1;
    const holder = step < 0 ? -1 : this.holderAt(stage, point);
    const old = this.hover;
    this.hover = step < 0 || step >= stage.plan.steps ? null : {stage, holder, step};
    if (!this.hover) this.tooltip.hide();
    else if (holder >= 0) this.tooltip.showHolder(stage.plan, holder, step, event);
    else this.tooltip.showStep(stage.scene, step, event);
    if (!old || !this.hover || old.holder !== holder || old.step !== step) {
      this.touchMarks();
      if (this.hover && holder >= 0 && (!old || old.holder !== holder)) this.say(spoken(stage.plan, holder), 700);
    }
  }

  clicked(stage, point, event) {
    if (!point.part) return;
    stage.over.focus({preventScroll: true});
    const step = Math.min(Math.max(Math.floor(point.step), 0), stage.plan.steps - 1);
    const holder = this.holderAt(stage, point);
    if (point.part === "curve" || event.shiftKey) this.showStep(stage.plan, step, false);
    else if (holder >= 0) this.select(stage.plan, holder, false);
    else this.clearSelection();
  }

  // ---------------------------------------------------------------------------------------------- selecting

  // `moving`: the map moves there, and to its arena. A group is kept when one of its members is selected.
  select(plan, holder, moving) {
    if (holder < 0 || holder >= plan.holders.count) return;
    const {group} = this.state;
    if (group && (group.plan !== plan.number || !group.holders.includes(holder))) this.setGroup(null);
    this.state.selected = {plan: plan.number, holder};
    if (moving) this.reveal(plan, plan.holders.arena[holder], (stage) => {
      const box = holderBox(plan, holder);
      const {x0, x1, y0, y1} = stage.target;
      const seen = box.first < x1 && box.end > x0 && box.low >= y0 && box.high <= y1 && (box.end - box.first) / (x1 - x0) > 0.01;
      return seen ? stage.target : viewAround(box, stage.scene.limits);
    });
    this.state.panel = "selection";
    this.afterSelecting(spoken(plan, holder));
  }

  showStep(plan, step, moving) {
    if (step < 0 || step >= plan.steps) return;
    this.state.step = {plan: plan.number, step};
    this.state.selected = null;
    this.setGroup(null);
    const number = this.arenaOf(plan.number);
    const stage = this.stages[plan.number];
    if (moving && number >= 0) this.reveal(plan, number, ({target, scene}) => {
      const seen = step >= target.x0 && step < target.x1 && target.x1 - target.x0 < 400;
      return seen ? target : viewAtSteps(target, scene.limits, step, step + 1);
    });
    this.state.panel = "selection";
    this.afterSelecting(`${stepName(plan, step)}, ${opName(plan, step)}, ${stage.scene ? humanBytes(stage.scene.live[step]) : ""} live`);
  }

  afterSelecting(words) {
    this.touchMarks();
    this.say(words, 0);
    this.tell("selection");
  }

  // From one member of a group back to the whole group.
  unselect() {
    this.state.selected = null;
    this.afterSelecting("");
  }

  setGroup(group) {
    if (this.state.group === group) return;
    this.state.group = group;
    this.refresh(true);
  }

  clearSelection() {
    this.state.selected = null;
    this.state.step = null;
    this.setGroup(null);
    this.touchMarks();
    this.tell("selection");
  }

  // Shows the plan and arena, then moves to what `viewOf` says.
  reveal(plan, arena, viewOf) {
    if (this.state.mode !== "both" && this.state.mode !== String(plan.number)) this.setMode(String(plan.number));
    const tab = this.tabs.findIndex((each) => each.arenas[plan.number] === arena);
    if (tab !== this.state.tab) this.setTab(tab);
    const stage = this.stages[plan.number];
    if (stage.scene) this.move(stage, viewOf(stage), true);
  }

  liveAt(plan, step) {
    const number = this.arenaOf(plan.number);
    return number < 0 ? [] : liveSet(arenaFacts(plan, number).index, step);
  }

  // What links in panels do.
  get go() {
    return {
      select: (plan, holder) => this.select(plan, holder, true),
      step: (plan, step) => this.showStep(plan, step, true),
      holder: (plan, wanted) => this.select(plan, findHolder(plan, wanted), true),
      group: (plan, wanted) => showGroup(this, plan, wanted),
      point: (plan, wanted) => pointAt(this, plan, wanted),
      fit: (bytes) => this.setFit(bytes),
      layer: (layer) => this.searchLayer(layer),
      op: (plan, name) => this.showStep(plan, findOp(plan, name), true),
      peak: (plan, n) => goToPeak(this, plan, n),
    };
  }

  // ---------------------------------------------------------------------------------------------- settings

  setTab(tab) {
    if (tab < 0 || tab >= this.tabs.length || tab === this.state.tab) return;
    Object.assign(this.state, {tab, lit: null});
    this.peak = undefined;
    this.refresh(false);
    this.tell("tab");
  }

  setMode(mode) {
    this.state.mode = mode;
    this.tell("tab");
    this.refresh(true);
  }

  setColour(colour) {
    Object.assign(this.state, {colour, lit: null});
    this.refresh(true);
  }

  setTheme(theme) {
    this.state.theme = theme;
    document.documentElement.dataset.theme = theme;
    this.refresh(true);
  }

  setLit(label) {
    this.state.lit = this.state.lit === label ? null : label;
    this.refresh(true);
  }

  // The size that the user asked for; it replaces the capacity in the maps.
  setFit(bytes) {
    this.state.fit = bytes;
    this.refresh(true);
  }

  search(query) {
    this.state.query = query;
    this.found = this.plans.map((plan) => (query === "" ? null : searchHolders(plan, query)));
    this.hit = -1;
    this.refresh(true);
    this.tell("search");
  }

  // All of a layer, with the layers inside it.
  searchLayer(layer) {
    const name = layer.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    this.search(`^${name}($|[./])`);
  }

  // Hits of the shown plans, in one row: [[plan, holder], …].
  nextHit(by) {
    const hitsOf = ({plan}) => (this.found[plan.number] ? this.found[plan.number].hits.map((holder) => [plan, holder]) : []);
    const hits = this.shownStages.flatMap(hitsOf);
    if (hits.length === 0) return;
    this.hit = (this.hit + by + hits.length + (this.hit < 0 && by < 0 ? 1 : 0)) % hits.length;
    this.select(...hits[this.hit], true);
    this.tell("search");
  }

  searchWords() {
    const found = this.shownStages.map((stage) => this.found[stage.plan.number]).filter(Boolean);
    if (found.length === 0) return {words: "", error: null};
    const count = found.reduce((sum, each) => sum + each.hits.length, 0);
    const bytes = found.reduce((sum, each) => sum + each.bytes, 0);
    return {words: `${this.hit >= 0 ? `${this.hit + 1} of ` : ""}${countWords(count, bytes)}`, error: found[0].error};
  }

  legend(root) {
    const scenes = this.stages.map((stage) => stage.scene).filter(Boolean);
    fillLegend(root, this.look, scenes, this.state.step ? this.state.step.step : null, this.state.lit, (label) => this.setLit(label));
  }

  showAll() {
    for (const stage of this.shownStages) if (stage.scene) this.move(stage, wholeView(stage.scene.limits), true);
  }

  // Announces it in the live region, after a delay, so that a moving pointer does not cause constant announcements.
  say(words, delay) {
    clearTimeout(this.saying);
    this.saying = setTimeout(() => replace(document.getElementById("spoken"), words), delay);
  }
}
