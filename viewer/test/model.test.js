import assert from "node:assert/strict";
import test from "node:test";
import {gzipSync} from "node:zlib";
import {bytesOfBase64, decodePage, flowOf, groupBy, holderBox, holderName, readPage, readPlan, readsOf, startsOf, tensorsOf, tensorsReadAt, tensorsWrittenAt} from "../model.js";
import {HOSTILE, samplePage} from "./sample.js";
import {smallPlan} from "./small.js";

const packed = (json) => gzipSync(Buffer.from(JSON.stringify(json))).toString("base64");

test("a page decodes to what was packed, across line breaks, with any text in it", async () => {
  const page = samplePage({tensors: 40, hostile: true});
  const text = packed(page).replace(/(.{76})/g, "$1\n");
  assert.deepEqual(await decodePage(`\n${text}\n`), JSON.parse(JSON.stringify(page)));
});

test("another schema, no data and broken data are errors", async () => {
  await assert.rejects(decodePage(packed({schema: "stowage.page/2"})), /stowage\.page\/2/);
  await assert.rejects(decodePage("  \n"), /no data/);
  await assert.rejects(decodePage(packed({schema: "stowage.page/1"}).slice(0, 40)));
});

test("bytesOfBase64 keeps every byte", () => {
  const all = Uint8Array.from({length: 256}, (_, n) => n);
  assert.deepEqual(bytesOfBase64(Buffer.from(all).toString("base64")), all);
});

test("startsOf sums, groupBy keeps the order and leaves −1 out", () => {
  assert.deepEqual([...startsOf([2, 0, 3])], [0, 2, 2, 5]);
  const groups = groupBy([1, 0, -1, 1], 2);
  assert.deepEqual([[...groups.starts], [...groups.rows]], [[0, 1, 3], [1, 0, 3]]);
});

test("tensors, reads and pieces belong to their owners", () => {
  const plan = smallPlan();
  assert.deepEqual([...tensorsOf(plan, 1)], [1, 2]);
  assert.deepEqual([...readsOf(plan, 0)], [0, 2]);
  assert.deepEqual([...plan.pieces.holder], [0, 1, 1, 2, 3]);
  assert.deepEqual(holderBox(plan, 1), {first: 0, end: 3, low: 64, high: 192});
});

test("what a step reads and writes", () => {
  const plan = smallPlan();
  assert.deepEqual(tensorsReadAt(plan, 2), [0, 2]);
  assert.deepEqual(tensorsWrittenAt(plan, 1), [2]);
  assert.equal(flowOf(plan), flowOf(plan));
});

test("a workspace is called after its op, a tensor without a name by its number", () => {
  const plan = smallPlan();
  assert.equal(holderName(plan, 2), "half (workspace)");
  plan.strings[plan.tensors.name[0]] = "";
  assert.equal(holderName(plan, 0), "tensor 0");
});

test("regions begin where the one before ends", () => {
  const [plan] = readPage(samplePage({tensors: 100})).plans;
  const arena = plan.arenas[1];
  assert.deepEqual(arena.regionStarts, [0, arena.regions[0]]);
  assert.equal(arena.regions[0] + arena.regions[1], arena.size);
});

test("hostile names are kept as they are", () => {
  const plan = readPlan(samplePage({tensors: 40, hostile: true}).plans[0], 0);
  for (const name of HOSTILE) assert.ok(plan.strings.includes(name));
});
