// The page of a sweep: figures, a chart for each input and dim, and the table of what fits where.

import {parseSize} from "./answer.js";
import {sweepCsv} from "./csv.js";
import {bytesNode, el, longList, nameNode, replace} from "./dom.js";
import {download, fileName} from "./export.js";
import {writeFragment} from "./fragment.js";
import {baseName, grouped, humanBytes} from "./format.js";
import {helpDialog, isBrowsers} from "./keys.js";
import {SWEEP_FIGURES, chartsOf, dimValue, dimsOf, fitWord} from "./sweep.js";
import {lineStyle, sweepChart} from "./sweep_chart.js";

const CHARTS_AT_ONCE = 24;
const READING_SWEEP = "Each chart has the peak of one input against one of its dims, with a line for each combination of the others. A filled point is the smallest " +
                      "peak possible (proven); of a hollow one it is not known. Dashed lines are the sizes in the field Sizes. The table says of each row " +
                      "which of them it fits: yes, no (proven), or ? where neither is known.";
const FIT_WORDS = {yes: ["yes", "verdict fits"], no: ["no", "verdict fails"], unknown: ["?", "quiet"], failed: ["", ""]};

function sweepFigures(sweep) {
  const {rows} = sweep;
  const count = (label, value, note) => el("div", {class: "figure"}, el("dt", {}, label),
                                           el("dd", {}, el("span", {class: "bytes"}, grouped(value)), note ? el("span", {class: "note"}, note) : null));
  const planned = rows.filter((row) => row.peak !== null);
  const failed = rows.filter((row) => row.error).length;
  const proven = planned.filter((row) => row.proven).length;
  const peak = planned.reduce((most, row) => Math.max(most, row.peak), 0);
  return el("dl", {class: "plan-figures", "aria-label": "Figures of the sweep"},
            count("Inputs", new Set(rows.map((row) => row.input)).size),
            count("Plans", planned.length, `${grouped(proven)} the smallest possible (proven)`),
            planned.length > 0 ? el("div", {class: "figure"}, el("dt", {}, "Largest peak"), el("dd", {}, bytesNode(peak))) : null,
            failed > 0 ? count("Failed", failed, "see the table") : null);
}

export class SweepPage {
  constructor(page, head, main, theme, wanted) {
    this.page = page;
    this.sweep = page.sweep;
    this.charts = chartsOf(this.sweep.rows);
    this.how = {theme, figure: "peak", fits: this.sweep.fits};
    this.themeChosen = wanted.theme !== null;
    this.shown = CHARTS_AT_ONCE;
    this.help = helpDialog("How to read this page", READING_SWEEP, [["d", "light or dark"], ["?", "this help"]], [["point", "the figures of a row"]]);
    this.chartsNode = el("div", {class: "sweep-charts"});
    this.tableNode = el("div", {class: "sweep-table"});
    this.fillHead(head);
    replace(main, el("section", {class: "sweep-work", "aria-label": "Sweep"}, this.toolbar(), this.chartsNode, el("h2", {}, "What fits where"), this.tableNode));
    main.classList.add("sweep");
    document.body.append(this.help);
    this.drawTable();
    new ResizeObserver(() => this.drawCharts()).observe(main);
    document.addEventListener("keydown", (event) => this.key(event));
  }

  fillHead(head) {
    const button = (words, label, onclick) => el("button", {type: "button", class: "small", title: label, "aria-label": label, onclick}, words);
    replace(head, el("div", {class: "title-row"}, el("h1", {}, nameNode(this.page.title, 90)), el("div", {class: "buttons"},
      button("CSV", "Save the table as CSV", () => download(new Blob([sweepCsv(this.sweep.rows)], {type: "text/csv"}), fileName(this.page.title, "csv"))),
      button("◐", "Light or dark", () => this.toggleTheme()), button("?", "Help", () => this.help.showModal()))),
      sweepFigures(this.sweep));
  }

  toolbar() {
    const figures = el("select", {onchange: (event) => this.change({figure: event.target.value})},
                       Object.entries(SWEEP_FIGURES).map(([name, words]) => el("option", {value: name}, words)));
    const sizes = el("input", {type: "text", class: "sweep-sizes", value: this.how.fits.map((size) => humanBytes(size).replace(" ", "")).join(", "),
                               placeholder: "1MiB, 6MiB", onchange: (event) => this.readSizes(event.target)});
    return el("div", {class: "toolbar"}, el("label", {class: "field"}, "Show ", figures), el("label", {class: "field"}, "Sizes ", sizes));
  }

  // Sizes that came with the page stay exact, although the field shows three digits of them.
  readSizes(input) {
    const given = new Map(this.sweep.fits.map((size) => [humanBytes(size).replace(" ", ""), size]));
    const words = input.value.split(/[,;]/).map((word) => word.trim()).filter(Boolean);
    const sizes = words.map((word) => given.get(word) || parseSize(word, 2 ** 20));
    input.setAttribute("aria-invalid", String(sizes.includes(null)));
    if (!sizes.includes(null)) this.change({fits: sizes});
  }

  change(how) {
    Object.assign(this.how, how);
    this.drawCharts();
    this.drawTable();
  }

  drawCharts() {
    const room = this.chartsNode.clientWidth;
    if (room < 100) return;
    const width = Math.min(Math.max(room, 280), 520);
    const more = this.charts.length > this.shown ? el("button", {type: "button", class: "more", onclick: () => {
      this.shown += CHARTS_AT_ONCE;
      this.drawCharts();
    }}, `show more of ${grouped(this.charts.length)} charts`) : null;
    const none = el("p", {class: "quiet"}, "No dim of an input has several values, so there are no curves.");
    replace(this.chartsNode, this.charts.slice(0, this.shown).map((chart) => this.chartNode(chart, width)), more, this.charts.length === 0 ? none : null);
  }

  chartNode(chart, width) {
    const key = chart.lines.length < 2 ? null : el("div", {class: "sweep-key"}, chart.lines.map((line, n) => {
      const {stroke, dash} = lineStyle(n, this.how.theme);
      return el("span", {class: "sweep-key-entry"}, el("span", {class: "sweep-swatch", style: `border-top: 2px ${dash ? "dashed" : "solid"} ${stroke}`}), nameNode(line.label || "alone", 40));
    }));
    return el("figure", {class: "sweep-figure"}, el("figcaption", {}, nameNode(baseName(chart.input), 60)), sweepChart(chart, {...this.how, width}), key);
  }

  drawTable() {
    const {rows} = this.sweep;
    const {figure, fits} = this.how;
    const dims = dimsOf(rows);
    const heads = [["input"], ...dims.map((dim) => [dim, true]), ["peak", true], ["bound", true], ["weights", true], ["total", true],
                   ...fits.map((size) => [`fits ${humanBytes(size)}`, true]), ["status"]];
    const number = (bytes) => el("td", {class: "number"}, bytes === null ? "" : bytesNode(bytes));
    const fit = (row, size) => {
      const [words, kind] = FIT_WORDS[fitWord(row, size, figure)];
      return el("td", {class: "number"}, el("span", {class: kind}, words));
    };
    const makeRow = (row) => el("tr", {}, el("td", {}, nameNode(row.input, 60)),
      dims.map((dim) => el("td", {class: "number"}, dimValue(row, dim) === null ? "" : grouped(dimValue(row, dim)))),
      number(row.peak), number(row.bound), number(row.weights), number(row.total), fits.map((size) => fit(row, size)),
      el("td", {class: row.error ? "whole worse" : ""}, row.error || (row.proven ? "smallest possible (proven)" : row.status)));
    const [table, more] = longList(rows, makeRow, {class: "rows sweep-rows"});
    table.prepend(el("thead", {}, el("tr", {}, heads.map(([words, right]) => el("th", {scope: "col", class: right ? "number" : null}, nameNode(words, 24))))));
    replace(this.tableNode, table, more);
  }

  key(event) {
    if (isBrowsers(event) || this.help.open || /^(INPUT|SELECT)$/.test(event.target.tagName)) return;
    if (event.key === "d") this.toggleTheme();
    if (event.key === "?") this.help.showModal();
  }

  toggleTheme() {
    this.themeChosen = true;
    this.how.theme = this.how.theme === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = this.how.theme;
    history.replaceState(null, "", `#${writeFragment({views: [], theme: this.how.theme})}`);
    this.drawCharts();
  }

  // For tests.
  look() {
    return {sweep: true, charts: this.charts.length, rows: this.sweep.rows.length, theme: this.how.theme};
  }
}
