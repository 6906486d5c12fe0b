// The page around the maps: toolbar, side panel, legend, and the address that can be shared.

import {COLOURINGS} from "./colour.js";
import {changesPanel} from "./compare.js";
import {holdersCsv} from "./csv.js";
import {el, linkNode, replace} from "./dom.js";
import {download, fileName, stagesPng, stagesSvg} from "./export.js";
import {baseName, plural, shorten} from "./format.js";
import {writeFragment} from "./fragment.js";
import {arenaTabList, diffFigures, planFigures, tabList, titleNode} from "./header.js";
import {listenKeys, mapHelp} from "./keys.js";
import {holderBox} from "./model.js";
import {emptyPanel, groupPanel, holderPanel, stepPanel} from "./panel.js";
import {arenaFacts} from "./scenes.js";
import {viewAround} from "./viewport.js";
import {nextPeak, panMap, selectMiddle, walkMap, zoomMap} from "./walk.js";
import {whyPanel} from "./why.js";

const TAIL = 14;  // characters

// The name of a file. Where it has no room, its middle is left out: the end always shows.
function captionName(label) {
  const name = shorten(baseName(label), 80);
  const cut = Math.max(name.length - TAIL, 0);
  return el("bdi", {class: "quiet split", title: shorten(label, 600)}, el("span", {class: "front"}, name.slice(0, cut)), el("span", {}, name.slice(cut)));
}

const MODES = [["0", "Before"], ["1", "After"], ["both", "Side by side"]];

export class Shell {
  constructor(app, head, main) {
    this.app = app;
    this.arenas = el("div", {class: "arenas"});
    this.maps = el("div", {class: "maps", id: "maps"}, app.stages.map((stage, at) => this.mapBox(stage, at)));
    this.legend = el("div", {class: "legend", role: "group", "aria-label": "Legend"});
    this.sideTabs = el("div", {});
    this.side = el("div", {class: "side-body", id: "side-body", role: "tabpanel", tabindex: "-1"});
    this.help = mapHelp(app.plans.length);
    replace(head, el("div", {class: "title-row"}, titleNode(app.page), this.buttons()),
            app.plans.length === 2 ? diffFigures(app.page) : planFigures(app.plans[0]));
    replace(main, el("section", {class: "work", "aria-label": "Maps"},
                     el("div", {class: "toolbar"}, this.arenas, this.modes(), this.colours(), this.searchBox()), this.maps, this.legend),
            el("aside", {class: "side", "aria-label": "Details"}, this.sideTabs, this.side));
    document.body.append(app.tooltip.root, this.help);
    app.observe((what) => this.update(what));
    this.listenSizes();
    this.listenToKeys();
  }

  mapBox(stage, at) {
    const caption = this.app.plans.length === 2 ? el("figcaption", {}, el("b", {}, at === 0 ? "before " : "after "),
                                                     captionName(this.app.plans[at].label)) : null;
    const missing = el("p", {class: "missing quiet"},
                       this.app.tabs.length === 0 ? "The graph has no tensors that need memory." : "This plan does not have this arena.");
    return el("figure", {class: "map-box"}, caption, stage.root, missing, this.app.minimaps[at].root);
  }

  buttons() {
    const button = (words, label, onclick) => el("button", {type: "button", class: "small", title: label, "aria-label": label, onclick},
                                                 words);
    return el("div", {class: "buttons"}, button("PNG", "Save the view as PNG", () => this.savePng()),
              button("SVG", "Save the view as SVG", () => this.saveSvg()),
              button("CSV", "Save the holders in view as CSV", () => this.saveCsv()),
              button("◐", "Light or dark", () => this.toggleTheme()), button("?", "Help", () => this.help.showModal()));
  }

  modes() {
    if (this.app.plans.length !== 2) return null;
    const choice = el("select", {"aria-label": "Plans shown", onchange: () => this.app.setMode(choice.value)},
                      MODES.map(([value, words]) => el("option", {value}, words)));
    this.mode = choice;
    return choice;
  }

  colours() {
    const names = Object.keys(COLOURINGS).filter((name) => name !== "change" || this.app.changes);
    const choice = el("select", {id: "colour", onchange: () => this.app.setColour(choice.value)},
                      names.map((name) => el("option", {value: name}, COLOURINGS[name].label)));
    this.colour = choice;
    return el("label", {class: "field"}, el("span", {class: "quiet"}, "colour "), choice);
  }

  searchBox() {
    this.query = el("input", {type: "search", id: "search", placeholder: "search names, layers (regex)", "aria-label": "Search names, layers and source lines",
                              "aria-describedby": "hits", spellcheck: "false", autocomplete: "off"});
    this.hits = el("output", {id: "hits", for: "search", class: "hits"});
    let waiting = 0;
    this.query.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.query.value !== this.app.state.query && this.app.search(this.query.value), 120);
    });
    this.query.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      if (this.query.value !== this.app.state.query) this.app.search(this.query.value);
      this.app.nextHit(event.shiftKey ? -1 : 1);
    });
    const button = (words, label, by) => el("button", {type: "button", class: "small", "aria-label": label, title: label,
                                                       onclick: () => this.app.nextHit(by)}, words);
    this.hitButtons = el("span", {class: "hit-buttons"}, button("‹", "Previous hit", -1), button("›", "Next hit", 1));
    return el("search", {class: "search"}, this.query, this.hitButtons, this.hits);
  }

  // ---------------------------------------------------------------------------------------------- showing

  update(what) {
    if (what === "view") {
      this.shareLater();
      return;
    }
    if (what === "look" || what === "selection") this.app.legend(this.legend);
    if (what === "look") this.colour.value = this.app.state.colour;
    if (what === "tab") this.showTabs();
    if (what === "search") {
      if (document.activeElement !== this.query) this.query.value = this.app.state.query;
      this.showHits();
    }
    if (what === "selection" || what === "tab") this.showSide();
    this.shareLater();
  }

  showAll() {
    this.shownSide = null;
    this.query.value = this.app.state.query;
    this.showTabs();
    this.showHits();
    this.showSide();
  }

  showTabs() {
    const {app} = this;
    replace(this.arenas, arenaTabList(app.tabs, app.plans, app.state.tab, (tab) => app.setTab(tab)));
    [...this.maps.children].forEach((box, at) => {
      box.hidden = app.state.mode !== "both" && app.state.mode !== String(at);
    });
    this.maps.classList.toggle("both", app.state.mode === "both");
    if (this.mode) this.mode.value = app.state.mode;
  }

  showHits() {
    const {words, error} = this.app.searchWords();
    replace(this.hits, words, error ? el("span", {class: "bad", title: error}, " not a regular expression: taken as text") : null);
    this.hitButtons.hidden = words === "";
  }

  // Shows a search that has not run yet.
  offerSearch(query) {
    this.query.value = query;
    replace(this.hits, "not searched yet: press Enter");
  }

  showSide() {
    const {app} = this;
    const entries = [...(app.changes ? [["changes", "Changes"]] : []), ["why", "Why"], ["selection", "Selection"]];
    const chosen = Math.max(0, entries.findIndex(([name]) => name === app.state.panel));
    const choose = (n) => {
      app.state.panel = entries[n][0];
      this.showSide();
      this.shareLater();
    };
    replace(this.sideTabs, tabList("Details", entries.map(([name, content]) => ({content, id: `side-${name}`, controls: "side-body"})),
                                   chosen, choose));
    this.side.setAttribute("aria-labelledby", `side-${entries[chosen][0]}`);
    const wanted = this.sideKey(entries[chosen][0]);
    if (wanted !== this.shownSide) {
      replace(this.side, this.sidePanel(entries[chosen][0]));
      this.side.scrollTop = 0;
    }
    this.shownSide = wanted;
  }

  // What a panel depends on: filling it again needlessly would lose the scroll position.
  sideKey(name) {
    const {tab, selected, step, group} = this.app.state;
    if (name === "why") return `why ${tab} ${this.whyPlan().number}`;
    return name === "changes" ? "changes" : JSON.stringify([tab, selected, step, group]);
  }

  whyPlan() {
    return this.app.plans[this.app.state.mode === "0" ? 0 : this.app.plans.length - 1];
  }

  sidePanel(name) {
    const {app} = this;
    if (name === "changes") return changesPanel(app.page, app.changes, (at, holder) => app.select(app.plans[at], holder, true));
    if (name === "why") {
      const plan = this.whyPlan();
      const number = app.arenaOf(plan.number);
      return whyPanel(plan, number, number < 0 ? null : arenaFacts(plan, number), {...app.go, asked: app.state.fit});
    }
    return this.selectionPanel();
  }

  selectionPanel() {
    const {app} = this;
    const {selected, step, group} = app.state;
    if (selected) {
      const plan = app.plans[selected.plan];
      return [group ? el("p", {}, linkNode(`← ${plural(group.holders.length, "holder")}`, () => app.unselect())) : null,
              holderPanel(plan, selected.holder, step && step.plan === selected.plan ? step.step : null, app.go)];
    }
    if (group) return groupPanel(app.plans[group.plan], group.holders, app.go);
    if (!step) return emptyPanel();
    const plan = app.plans[step.plan];
    const number = app.arenaOf(step.plan);
    return number < 0 ? emptyPanel() : stepPanel(plan, plan.arenas[number], step.step, app.liveAt(plan, step.step), app.go);
  }

  // ---------------------------------------------------------------------------------------------- address, files, keys

  shareLater() {
    if (this.sharing) return;
    this.sharing = setTimeout(() => {
      this.sharing = 0;
      const {app} = this;
      const views = app.stages.map((stage) => (stage.scene ? stage.target : null));
      const own = writeFragment({...app.state, views, theme: app.state.themeChosen ? app.state.theme : null,
                                 mode: app.plans.length === 2 ? app.state.mode : null});
      this.fragment = `#${own}`;
      if (location.hash !== this.fragment) history.replaceState(null, "", this.fragment);
    }, 250);
  }

  toggleTheme() {
    this.app.state.themeChosen = true;
    this.app.setTheme(this.app.state.theme === "dark" ? "light" : "dark");
  }

  savePng() {
    const stages = this.app.shownStages.filter((stage) => stage.scene);
    if (stages.length > 0) stagesPng(stages, (blob) => download(blob, fileName(this.app.page.title, "png")));
  }

  saveSvg() {
    const stages = this.app.shownStages.filter((stage) => stage.scene);
    const shown = stages.map((stage) => ({scene: stage.scene, marks: this.app.marksOf(stage)}));
    if (shown.length === 0) return;
    const title = `${shown.map(({scene}) => scene.plan.label).join(" → ")}: ${shown[0].scene.arena.name}`;
    download(new Blob([stagesSvg(shown, title)], {type: "image/svg+xml"}), fileName(this.app.page.title, "svg"));
  }

  saveCsv() {
    const scenes = this.app.shownStages.filter((stage) => stage.scene).map((stage) => stage.scene);
    if (scenes.length === 0) return;
    download(new Blob([holdersCsv(scenes)], {type: "text/csv"}), fileName(this.app.page.title, "csv"));
  }

  listenSizes() {
    const printing = window.matchMedia("print");
    const observer = new ResizeObserver(() => {
      if (printing.matches) return;  // printing uses the current picture: nothing is redrawn meanwhile
      for (const stage of this.app.stages) stage.resize(stage.root.clientWidth, stage.root.clientHeight);
      this.app.ask();
    });
    for (const stage of this.app.stages) observer.observe(stage.root);
  }

  listenToKeys() {
    const {app} = this;
    const nextColour = () => {
      const names = [...this.colour.options].map((option) => option.value);
      app.setColour(names[(names.indexOf(app.state.colour) + 1) % names.length]);
    };
    const zoomToSelected = () => {
      const stage = app.state.selected && app.stages[app.state.selected.plan];
      if (stage && stage.scene) app.move(stage, viewAround(holderBox(stage.plan, app.state.selected.holder), stage.scene.limits), true);
    };
    listenKeys({
      pan: (dx, dy) => panMap(app, dx, dy),
      walk: (dx, dy) => walkMap(app, dx, dy),
      enter: () => selectMiddle(app),
      keys: {
        "+": () => zoomMap(app, 1.5), "=": () => zoomMap(app, 1.5), "-": () => zoomMap(app, 1 / 1.5), "−": () => zoomMap(app, 1 / 1.5),
        0: () => app.showAll(),
        n: () => this.toPeak(1), p: () => this.toPeak(-1), z: zoomToSelected, "/": () => this.query.focus(), c: nextColour,
        d: () => this.toggleTheme(),
        "[": () => app.setTab(app.state.tab - 1), "]": () => app.setTab(app.state.tab + 1), "?": () => this.help.showModal(),
        Escape: () => this.escape(),
      },
    });
  }

  // Moves the focus to the map too, so that the arrow keys continue from there, unless something else has the focus.
  toPeak(by) {
    nextPeak(this.app, by);
    if (document.activeElement === document.body) this.app.current.over.focus({preventScroll: true});
  }

  escape() {
    if (this.app.state.query !== "") {
      this.query.value = "";
      this.app.search("");
    } else {
      this.app.clearSelection();
    }
  }
}
