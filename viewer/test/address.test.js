// What a link may ask for, and what it may not: links come from anywhere.

import assert from "node:assert/strict";
import test from "node:test";
import {fitting, readFragment} from "../fragment.js";
import {endsSoon, searchHolders} from "../lookup.js";
import {readPage} from "../model.js";
import {ReplayPage} from "../replay_page.js";
import {sampleDiffPage, samplePage} from "./sample.js";

test("of a fragment only what the page has is taken", () => {
  const one = readPage(samplePage({tensors: 60}));
  const two = readPage(sampleDiffPage({tensors: 60}));
  const of = (page, text) => fitting(readFragment(text), page);
  assert.deepEqual(of(one, "#colour=role&panel=why&holder=0.3&step=0.2"),
                   {colour: "role", panel: "why", selected: {plan: 0, holder: 3}, step: {plan: 0, step: 2}});
  for (const text of ["", "#colour=change", "#plan=both", "#holder=1.0", "#holder=0.999999", "#step=0.999999", "#panel=x"]) {
    assert.deepEqual(of(one, text), {}, text);
  }
  assert.deepEqual(of(two, "#colour=change&plan=1"), {colour: "change", mode: "1"});
  for (const name of ["toString", "constructor", "__proto__", "hasOwnProperty"]) {
    assert.deepEqual(of(two, `#colour=${name}&plan=${name}&panel=${name}`), {}, name);
  }
});

test("what people search for ends soon, what a name could keep busy for ever does not", () => {
  const strings = Array.from({length: 20000}, (_, n) => `blk.${n % 80}.attn_output.weight_${n}`);
  for (const query of ["attn", "blk\\.3\\.", "^blk.*weight$", "q|k|v", "(ffn|attn)_.*-1[0-9]", "layers?/[0-9]+/", "a\\-b", "[", "blk.(3|4).attn"]) {
    assert.ok(endsSoon(query, strings), query);
  }
  const bad = ["(a+)+$", "(?:a|a)*b", "(.*a){12}", "(\\w+\\s?)+$", "(a*)\\1b", "(?<x>a*)\\k<x>b", `${"a?".repeat(40)}${"a".repeat(40)}`,
               `${"(a|a)".repeat(40)}b`, `${".*".repeat(9)}=`, `${"a{0,50}".repeat(9)}!`];
  for (const query of bad) assert.ok(!endsSoon(query, strings), query);
  assert.ok(!endsSoon(".*.*.*x", ["n".repeat(10000)]), "a long name costs more");
});

// Where the estimate is wrong, this test does not end.
test("searches that are said to end soon do so over names made to stop them", () => {
  const page = samplePage({tensors: 60});
  page.plans[0].strings = page.plans[0].strings.map((text) => (text === "" ? "" : "a".repeat(60)));
  const [plan] = readPage(page).plans;
  for (const query of ["a*a*a*b", "(a|a)(a|a)a*b", "a?a?a?a?a?a*b", "^a+a+$b"]) {
    assert.ok(endsSoon(query, plan.strings), query);
    assert.equal(searchHolders(plan, query).hits.length, 0);
  }
});

test("a replay is never asked to show less than a few events", () => {
  const page = {chart: {replay: {events: 1000}, view: {x0: 0, x1: 1000}}, ask: () => {}};
  for (const [start, span] of [[5, 1e-300], [5, 0], [999, 3], [-4, 8]]) {
    ReplayPage.prototype.setView.call(page, start, span);
    const {x0, x1} = page.chart.view;
    assert.ok(x0 >= 0 && x1 <= 1000 && x1 - x0 >= 8, `${start} ${span}: ${x0} ${x1}`);
  }
  const short = {chart: {replay: {events: 3}, view: {x0: 0, x1: 3}}, ask: () => {}};
  ReplayPage.prototype.setView.call(short, 1, 1);
  assert.deepEqual(short.chart.view, {x0: 0, x1: 3});
});
