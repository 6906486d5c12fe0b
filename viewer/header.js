// The top of the page: the title, the figures, and the tabs of arenas.

import {bytesNode, el, nameNode} from "./dom.js";
import {baseName, exactBytes, grouped, humanBytes, percent, plural, shorten, signedBytes} from "./format.js";
import {fitOf} from "./scenes.js";
import {gapText} from "./why.js";

function figure(label, value, note, kind) {
  return el("div", {class: `figure ${kind || ""}`}, el("dt", {}, label),
            el("dd", {}, value, note ? el("span", {class: "note"}, note) : null));
}

export function planFigures(plan) {
  const {summary} = plan;
  const proven = summary.peak_bytes <= summary.lower_bound_bytes;
  return el("dl", {class: "plan-figures", "aria-label": `Figures of ${plan.label}`},
            figure("Peak", bytesNode(summary.peak_bytes), gapText(summary.peak_bytes, summary.lower_bound_bytes), proven ? "good" : ""),
            figure("Bound", bytesNode(summary.lower_bound_bytes), "no plan is smaller"),
            figure("Naive", bytesNode(summary.naive_bytes),
                   `without reuse; the peak is ${percent(summary.peak_bytes, summary.naive_bytes)} of it`),
            weightsFigure(summary),
            capacityFigure(plan),
            sizeFigure(summary));
}

// What the peak leaves out. A table has no weights.
function weightsFigure(summary) {
  if (summary.ops === 0) return null;
  const folded = summary.folded_bytes > 0 ? `, ${humanBytes(summary.folded_bytes)} of it folded` : "";
  return figure("Weights", bytesNode(summary.weights_bytes), `${humanBytes(summary.total_bytes)} in total, with the peak${folded}`);
}

// A table (.csv) has neither ops nor tensors.
function sizeFigure(summary) {
  const value = (words) => el("span", {class: "bytes"}, words);
  return summary.ops > 0 ? figure("Graph", value(plural(summary.ops, "op")), plural(summary.tensors, "tensor"))
    : figure("Table", value(grouped(summary.items)), "items");
}

function capacityFigure(plan) {
  if (plan.capacity === null) return null;
  const over = fitOf(plan).filter((memory) => !memory.fits);
  const left = plan.capacity - Math.max(0, ...fitOf(plan).map((memory) => memory.bytes));
  const words = over.length === 0 ? `fits, ${humanBytes(left)} left`
    : `does not fit: ${humanBytes(-left)} too much${over.length > 1 ? ` in ${over.length} memories` : ""}`;
  return figure("Capacity", bytesNode(plan.capacity), words, over.length === 0 ? "good" : "bad");
}

// Two plans: before → after.
export function diffFigures(page) {
  const [before, after] = page.plans.map((plan) => plan.summary);
  const pair = (label, key) => {
    const change = after[key] - before[key];
    return figure(label, [bytesNode(before[key]), el("span", {class: "arrow"}, " → "), bytesNode(after[key])],
                  change === 0 ? "same" : `${signedBytes(change)} (${change > 0 ? "+" : ""}${percent(change, before[key])})`,
                  change > 0 ? "bad" : change < 0 ? "good" : "");
  };
  return el("dl", {class: "plan-figures", "aria-label": "Figures of both plans"}, pair("Peak", "peak_bytes"),
            pair("Bound", "lower_bound_bytes"),
            pair("Naive", "naive_bytes"), capacityFigure(page.plans[1]));
}

export function titleNode(page) {
  if (page.plans.length !== 2) return el("h1", {}, nameNode(page.title, 90));
  const [before, after] = page.plans.map((plan) => el("span", {title: shorten(plan.label, 600)}, nameNode(baseName(plan.label), 60)));
  return el("h1", {}, before, el("span", {class: "arrow"}, " → "), after);
}

// Roving focus: one tab is reachable with Tab, the arrow keys go to the others. Choosing one rebuilds the list, so the
// focus is restored.
export function tabList(label, entries, chosen, choose) {
  const go = (n) => {
    choose(n);
    const fresh = document.querySelectorAll(`[role=tablist][aria-label="${label}"] [role=tab]`)[n];
    if (fresh) fresh.focus();
  };
  const buttons = entries.map((entry, n) => el("button", {
    type: "button", role: "tab", id: entry.id || null, "aria-selected": String(n === chosen), "aria-controls": entry.controls || null,
    tabindex: n === chosen ? "0" : "-1",
    title: entry.title || null, onclick: () => go(n),
  }, entry.content));
  const list = el("div", {role: "tablist", class: "tabs", "aria-label": label}, buttons);
  list.addEventListener("keydown", (event) => {
    const move = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    go((buttons.indexOf(document.activeElement) + move + buttons.length) % buttons.length);
  });
  return list;
}

export function arenaTabList(tabs, plans, chosen, choose) {
  const sizes = (tab, words) => tab.arenas.map((number, at) => (number < 0 ? "none" : words(plans[at].arenas[number].size)));
  return tabList("Arenas", tabs.map((tab) => ({
    content: [nameNode(tab.name, 28), " ", el("span", {class: "quiet"}, [...new Set(sizes(tab, humanBytes))].join(" → "))],
    title: `${tab.kind}, ${sizes(tab, exactBytes).join(" → ")}`,
    controls: "maps",
  })), chosen, choose);
}
