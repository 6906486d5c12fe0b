// Two plans: the holder of each entry of the difference, the change of each holder, and the table of changes.

import {el, linkNode, longList, nameNode, replace} from "./dom.js";
import {exactBytes, humanBytes, plural, signedBytes} from "./format.js";
import {findHolder} from "./lookup.js";

export const CHANGES = ["appeared", "vanished", "grew", "shrank", "moved"];
const byNumber = new Intl.Collator("en", {numeric: true});

// Sets plan.changes (a word by holder) for both plans and returns the entries with their holders: [{…entry, holders: [a, b]}].
export function matchChanges(page) {
  const [before, after] = page.plans;
  for (const plan of page.plans) plan.changes = new Array(plan.holders.count).fill("same");
  const mark = (plan, holder, change) => {
    if (holder < 0) return;
    const old = plan.changes[holder];
    if (old === "same" || CHANGES.indexOf(change) < CHANGES.indexOf(old)) plan.changes[holder] = change;
  };
  return page.diff.entries.map((entry) => {
    const a = entry.before === null ? -1 : findHolder(before, {name: entry.name, offset: entry.offset_before, arena: entry.arena_before});
    const b = entry.after === null ? -1 : findHolder(after, {name: entry.name, offset: entry.offset_after, arena: entry.arena_after});
    mark(before, a, entry.change);
    mark(after, b, entry.change);
    return {...entry, holders: [a, b]};
  });
}

// The side panel "Changes". `select(plan number, holder)` moves the map.
export function changesPanel(page, entries, select) {
  const {diff} = page;
  const list = el("div", {});
  const shown = new Set(CHANGES);
  const fill = () => {
    const order = (a, b) => weightOf(b) - weightOf(a) || byNumber.compare(a.name, b.name);
    const rows = entries.filter((entry) => shown.has(entry.change)).sort(order);
    replace(list, rows.length === 0 ? el("p", {class: "quiet"}, "No such changes.") : longList(rows, (entry) => changeRow(entry, select)));
  };
  const filters = CHANGES.map((change) => filterButton(change, entries.filter((entry) => entry.change === change).length, shown, fill));
  fill();
  const growth = diff.peak_after - diff.peak_before;
  return el("section", {"aria-label": "Changes between the plans"},
            el("p", {class: "lead"}, growth === 0 ? "The peak is the same."
               : `The peak ${growth > 0 ? "grew" : "shrank"} by ${humanBytes(Math.abs(growth))}.`),
            diff.by_number ? el("p", {class: "quiet"}, "Tensors are compared by number, because the plans have no names.") : null,
            arenaTable(diff),
            el("h3", {}, "Tensors"),
            el("div", {class: "filters", role: "group", "aria-label": "Which changes are listed"}, filters),
            el("p", {class: "quiet"}, `${plural(diff.unchanged, "tensor")} did not change.`), list);
}

function weightOf(entry) {
  return Math.abs((entry.after || 0) - (entry.before || 0)) + (entry.change === "moved" ? 0 : 0.5);
}

function arenaTable(diff) {
  const row = (arena) => {
    const change = (arena.after || 0) - (arena.before || 0);
    const cell = (bytes) => el("td", {class: "number", title: bytes === null ? null : exactBytes(bytes)},
                               bytes === null ? "none" : humanBytes(bytes));
    return el("tr", {}, el("th", {scope: "row"}, nameNode(arena.name, 24)), cell(arena.before), cell(arena.after),
              el("td", {class: `number ${change > 0 ? "worse" : change < 0 ? "better" : ""}`},
                 change === 0 ? "same" : signedBytes(change)));
  };
  const heads = ["Arena", "before", "after", "change"].map((head) => el("th", {scope: "col"}, head));
  return el("table", {class: "figures"}, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, diff.arenas.map(row)));
}

function filterButton(change, count, shown, fill) {
  const button = el("button", {type: "button", class: `chip change-${change}`, "aria-pressed": "true", disabled: count === 0},
                    `${change} ${count}`);
  button.addEventListener("click", () => {
    if (!shown.delete(change)) shown.add(change);
    button.setAttribute("aria-pressed", String(shown.has(change)));
    fill();
  });
  return button;
}

function changeRow(entry, select) {
  const link = (number, words) =>
    entry.holders[number] < 0 ? el("span", {class: "quiet"}, words)
                              : linkNode(words, () => select(number, entry.holders[number]),
                                         `${entry.name}, ${number === 0 ? "before" : "after"}: ${words}`);
  const side = (number, bytes) => (bytes === null ? el("span", {class: "quiet"}, "none") : link(number, humanBytes(bytes)));
  const best = entry.holders[1] >= 0 ? 1 : 0;
  return el("tr", {}, el("td", {}, el("span", {class: `tag change-${entry.change}`}, entry.change)),
            el("td", {class: "wide"}, entry.holders[best] < 0 ? nameNode(entry.name, 34)
               : linkNode(nameNode(entry.name, 34), () => select(best, entry.holders[best]))),
            el("td", {class: "number"}, side(0, entry.before), " → ", side(1, entry.after)));
}
