// What is saved as CSV; layers as categories; blocks of replays.

import assert from "node:assert/strict";
import test from "node:test";
import {blockFacts, blockLabels, blockWords, readBlocks} from "../blocks.js";
import {blocksCsv, holdersCsv, samplesCsv} from "../csv.js";
import {groupLayers, layerGroup} from "../layers.js";
import {searchHolders} from "../lookup.js";
import {readPage} from "../model.js";
import {arenaFacts} from "../scenes.js";
import {COLOURINGS} from "../colour.js";
import {factsOf} from "../story.js";
import {samplePage, sampleReplayPage} from "./sample.js";
import {smallPlan} from "./small.js";

function rowsOf(plan, more) {
  const scene = {plan, arena: plan.arenas[0], lit: null, view: {x0: 0, x1: plan.steps, y0: 0, y1: plan.arenas[0].size}, ...more};
  return holdersCsv([scene]).trimEnd().split("\r\n");
}

test("CSV has the holders in view, in columns with names", () => {
  const rows = rowsOf(smallPlan());
  assert.equal(rows[0], "plan,arena,name,op,kind,layer,source,role,bytes,offset,first_step,end_step,tensors,change");
  assert.equal(rows[2], "small.json,cpu,h,mul,MUL,,,tensor,128,64,0,3,2,");
  assert.equal(rows[3], "small.json,cpu,half (workspace),half,HALF,,,workspace,64,192,1,2,0,");
  assert.equal(rows.length, 5);
  assert.equal(rowsOf(smallPlan(), {view: {x0: 3, x1: 4, y0: 0, y1: 256}}).length, 2, "the last step alone");
  assert.equal(rowsOf(smallPlan(), {view: {x0: 0, x1: 4, y0: 200, y1: 256}}).length, 2, "the workspace at the top alone");
  assert.equal(rowsOf(smallPlan(), {lit: Uint8Array.of(1, 0, 0, 1)}).length, 3, "what is highlighted alone");
});

test("CSV fields are quoted, and no name is a formula", () => {
  const plan = smallPlan();
  plan.strings[1] = '=HYPERLINK("http://x","a")';
  plan.strings[4] = "a,b\nc";
  const rows = holdersCsv([{plan, arena: plan.arenas[0], lit: null, view: {x0: 0, x1: 4, y0: 0, y1: 256}}]);
  assert.ok(rows.includes(`,"'=HYPERLINK(""http://x"",""a"")",`), rows);
  assert.ok(rows.includes(',"a,b\nc",'), rows);
});

test("CSV of a replay has the samples and the blocks in view", () => {
  const {replay} = sampleReplayPage();
  const samples = samplesCsv(replay, {x0: 0, x1: 34}).trimEnd().split("\r\n");
  assert.deepEqual(samples.map((row) => row.split(",")[0]), ["event", "0", "17", "34"]);
  const blocks = blocksCsv(readBlocks(replay.blocks), {x0: 0, x1: 60}).trimEnd().split("\r\n");
  assert.deepEqual(blocks, ["first_event,end_event,address,bytes,stream", `0,1200,0,${2 ** 20},0`, `50,1250,${4 * 2 ** 20},${2 ** 21},1`]);
});

test("blocks say how long they lived and where", () => {
  const blocks = readBlocks(sampleReplayPage().replay.blocks);
  assert.deepEqual(blockLabels(blocks), ["stream 0", "stream 1", "stream 2"]);
  const facts = new Map(blockFacts(blocks, 1, 34000));
  assert.equal(facts.get("freed"), "at event 1,250, 1,200 events later");
  assert.equal(facts.get("address"), "4.00 MiB (4,194,304 bytes)");
  assert.equal(new Map(blockFacts(blocks, 1, 1250)).get("freed"), "not before the end");
  assert.match(blockWords(blocks), /^The 600 blocks .* 7 smaller ones are left out\.$/);
  assert.equal(readBlocks({first: []}), null);
  assert.equal(readBlocks(undefined), null);
  const one = readBlocks({...sampleReplayPage().replay.blocks, stream: new Array(600).fill(0)});
  assert.deepEqual(blockLabels(one).slice(0, 2), ["from 4.00 MiB", "from 1.00 MiB"]);
});

test("layers are cut to the deepest level that has few enough", () => {
  const [plan] = readPage(samplePage({tensors: 4000, layers: true})).plans;
  const holder = plan.holders.scope.findIndex((each) => plan.strings[each] === "model.layers.7.mlp");
  assert.ok(holder >= 0);
  assert.equal(layerGroup(plan, holder), "model.layers", "190 layers are too many");
  const [small] = readPage(samplePage({tensors: 400, layers: true})).plans;
  groupLayers([small]);
  const groups = new Set(Array.from({length: small.holders.count}, (_, holder) => layerGroup(small, holder)));
  assert.ok(groups.has("model.layers.7.mlp"), [...groups].join(" "));
  assert.equal(COLOURINGS.scope.label, "Layer");
});

test("layers and lines are found and shown", () => {
  const [plan] = readPage(samplePage({tensors: 400, layers: true})).plans;
  const found = searchHolders(plan, "^model\\.layers\\.7\\.mlp($|[./])");
  assert.ok(found.hits.length > 5);
  const facts = new Map(factsOf(plan, found.hits[0], plan.holders.first[found.hits[0]]));
  assert.equal(facts.get("layer"), "model.layers.7.mlp");
  assert.match(facts.get("source"), /^net\.py:\d+: x = self\./);
  assert.ok(searchHolders(plan, "self\\.rope").hits.length > 0, "a line of the program");
  assert.ok(arenaFacts(plan, 0).index.count > 0);
});
