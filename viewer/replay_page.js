// The page around a replay: figures, one chart, and its keys and pointer.

import {blockFacts, blockWords, readBlocks} from "./blocks.js";
import {blocksCsv, samplesCsv} from "./csv.js";
import {el, nameNode, replace} from "./dom.js";
import {download, fileName} from "./export.js";
import {writeFragment} from "./fragment.js";
import {grouped, humanBytes} from "./format.js";
import {helpDialog, isBrowsers} from "./keys.js";
import {SvgPainter} from "./painter.js";
import {THEMES} from "./palette.js";
import {blockUnder, drawReplaySvg, eventAt, paintReplay, replayFacts, replayFigures, replayTable} from "./replay.js";
import {Tooltip} from "./tooltip.js";

const LEAST_EVENTS = 8;

const KEYS_OF_REPLAY = [["← →", "pan"], ["+ −", "zoom in and out"], ["0", "show the whole trace"], ["d", "light or dark"], ["?", "this help"]];
const POINTER_OF_REPLAY = [["wheel, pinch", "zoom around the pointer"], ["drag", "pan"], ["point", "the figures at an event; a block"]];
const READING = "Left to right: the events of the trace, each an allocation or a free. The curves show the bytes that the program had requested, those " +
                "that the allocator had reserved from the device, and the largest block that it could have given without reserving more. Reserved " +
                "bytes that are not requested are free: waste.";
const READING_BLOCKS = " Below, each rectangle is an allocation: how long it lived, and at which addresses. White between rectangles is free " +
                       "memory; many small gaps are fragmentation. Long runs of addresses that no block uses are left out: a line shows where.";

export class ReplayPage {
  // `wanted` is what the address asks for; see readFragment.
  constructor(page, head, main, theme, wanted) {
    const {replay} = page;
    this.page = page;
    const blocks = readBlocks(replay.blocks);
    this.chart = {replay, blocks, view: {x0: 0, x1: Math.max(replay.events, 1)}, width: 0, height: 0, theme: THEMES[theme], themeName: theme,
                  hover: null, block: -1, picture: null};
    this.help = helpDialog("How to read the chart", blocks ? READING + READING_BLOCKS : READING, KEYS_OF_REPLAY, POINTER_OF_REPLAY);
    this.themeChosen = wanted.theme !== null;
    if (wanted.views[0]) this.setView(wanted.views[0].x0, wanted.views[0].x1 - wanted.views[0].x0);
    this.tooltip = new Tooltip();
    const {report} = replay;
    const label = `Bytes over ${grouped(replay.events)} events: at most ${humanBytes(report.peak_requested_bytes)} requested, ` +
                  `${humanBytes(report.peak_reserved_bytes)} reserved. Arrow keys pan, plus and minus zoom, 0 shows all, question mark lists all keys.`;
    this.canvas = el("canvas", {class: "replay over", tabindex: "0", role: "application", "aria-roledescription": "chart",
                                "aria-label": label});
    this.root = el("div", {class: `stage replay-stage${blocks ? " tall" : ""}`}, this.canvas);
    const button = (words, label, onclick) => el("button", {type: "button", class: "small", title: label, "aria-label": label, onclick},
                                                 words);
    replace(head, el("div", {class: "title-row"}, el("h1", {}, nameNode(page.title || replay.trace, 90)), el("div", {class: "buttons"},
      button("PNG", "Save the view as PNG", () => this.canvas.toBlob((blob) => download(blob, fileName(page.title, "png")), "image/png")),
      button("SVG", "Save the view as SVG", () => this.saveSvg()),
      button("CSV", "Save the samples in view as CSV", () => this.saveCsv("csv", samplesCsv(replay, this.chart.view))),
      blocks ? button("blocks", "Save the blocks in view as CSV", () => this.saveCsv("blocks.csv", blocksCsv(blocks, this.chart.view))) : null,
      button("◐", "Light or dark", () => this.toggleTheme()), button("?", "Help", () => this.help.showModal()))),
      replayFigures(replay));
    replace(main, el("section", {class: "work", "aria-label": "Chart"}, this.root,
                     el("p", {class: "quiet"},
                        "Memory that is reserved but not requested is free. ", blocks ? `${blockWords(blocks)} ` : null,
                        "Wheel or + − zoom, drag or arrow keys pan, 0 shows all, ? helps."),
                        replayTable(replay)));
    main.classList.add("single");
    document.body.append(this.tooltip.root, this.help);
    this.listen();
  }

  listen() {
    new ResizeObserver(() => this.draw()).observe(this.root);
    const grips = new Map();  // by pointer: where it is
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      grips.set(event.pointerId, event.clientX);
      if (event.pointerType !== "mouse") this.hover(event);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!grips.has(event.pointerId)) this.hover(event);
      else if (grips.size === 1) this.move(((grips.get(event.pointerId) - event.clientX) / (this.chart.width - 86)) * this.span);
      else this.pinch(grips, event);
      if (grips.has(event.pointerId)) grips.set(event.pointerId, event.clientX);
    });
    for (const name of ["pointerup", "pointercancel"]) this.canvas.addEventListener(name, (event) => grips.delete(event.pointerId));
    this.canvas.addEventListener("pointerleave", () => this.hover(null));
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-Math.min(Math.max(event.deltaY, -240), 240) * 0.0022), eventAt(this.canvas, this.chart, event.clientX));
    }, {passive: false});
    document.addEventListener("keydown", (event) => this.key(event));
  }

  // Two fingers: what is between them stays there.
  pinch(grips, event) {
    const other = [...grips].find(([id]) => id !== event.pointerId)[1];
    const [before, after] = [grips.get(event.pointerId), event.clientX].map((x) => Math.max(Math.abs(x - other), 8));
    this.zoom(after / before, eventAt(this.canvas, this.chart, (event.clientX + other) / 2));
  }

  get span() {
    return this.chart.view.x1 - this.chart.view.x0;
  }

  key(event) {
    const middle = (this.chart.view.x0 + this.chart.view.x1) / 2;
    const actions = {"+": () => this.zoom(1.5, middle), "=": () => this.zoom(1.5, middle), "-": () => this.zoom(1 / 1.5, middle),
                     0: () => this.zoom(0, middle),
                     ArrowLeft: () => this.move(-0.12 * this.span), ArrowRight: () => this.move(0.12 * this.span),
                     d: () => this.toggleTheme(), "?": () => this.help.showModal()};
    if (!actions[event.key] || isBrowsers(event) || this.help.open) return;
    event.preventDefault();
    actions[event.key]();
  }

  zoom(factor, at) {
    const {view, replay} = this.chart;
    const span = Math.min(Math.max(factor === 0 ? Infinity : this.span / factor, LEAST_EVENTS), Math.max(replay.events, 1));
    const part = (at - view.x0) / this.span;
    this.setView(at - part * span, span);
  }

  move(events) {
    this.setView(this.chart.view.x0 + events, this.span);
  }

  setView(start, wanted) {
    const most = Math.max(this.chart.replay.events, 1);
    const span = Math.min(Math.max(wanted, LEAST_EVENTS), most);
    const x0 = Math.min(Math.max(start, 0), most - span);
    this.chart.view = {x0, x1: x0 + span};
    this.ask();
  }

  hover(event) {
    this.chart.hover = event ? eventAt(this.canvas, this.chart, event.clientX) : null;
    this.chart.block = event ? blockUnder(this.canvas, this.chart, event) : -1;
    if (this.chart.block >= 0) {
      this.tooltip.showFacts("block", blockFacts(this.chart.blocks, this.chart.block, this.chart.replay.events), event);
    } else if (event && this.chart.replay.at.length > 0) {
      const {event: at, facts} = replayFacts(this.chart.replay, this.chart.hover);
      this.tooltip.showFacts(`event ${grouped(at)}`, facts, event);
    } else {
      this.tooltip.hide();
    }
    this.ask();
  }

  toggleTheme() {
    this.themeChosen = true;
    const themeName = this.chart.themeName === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = themeName;
    Object.assign(this.chart, {themeName, theme: THEMES[themeName]});
    this.ask();
  }

  // The view, in the address.
  shareLater() {
    clearTimeout(this.sharing);
    this.sharing = setTimeout(() => {
      const fragment = writeFragment({views: [{...this.chart.view, y0: 0, y1: 1}], theme: this.themeChosen ? this.chart.themeName : null});
      history.replaceState(null, "", `#${fragment}`);
    }, 250);
  }

  ask() {
    this.shareLater();
    if (!this.asked) this.asked = requestAnimationFrame(() => this.draw());
  }

  // For tests.
  look() {
    return {view: {...this.chart.view}, events: this.chart.replay.events};
  }

  draw() {
    this.asked = 0;
    Object.assign(this.chart, {width: this.root.clientWidth, height: this.root.clientHeight});
    if (this.chart.width > 100) paintReplay(this.canvas, this.chart);
  }

  saveCsv(ending, text) {
    download(new Blob([text], {type: "text/csv"}), fileName(this.page.title, ending));
  }

  saveSvg() {
    const painter = new SvgPainter();
    drawReplaySvg(painter, this.chart);
    download(new Blob([painter.finish(this.chart.width, this.chart.height, this.page.title)], {type: "image/svg+xml"}),
             fileName(this.page.title, "svg"));
  }
}
