import assert from "node:assert/strict";
import test from "node:test";
import {binaryTicks, decimalTicks, escapeXml, exactBytes, grouped, humanBytes, percent, plural, shorten, signedBytes, stepSpan, straight, tickBytes, visible} from "../format.js";

test("bytes have three digits, as in the terminal", () => {
  const cases = [[0, "0 B"], [512, "512 B"], [4096, "4.00 KiB"], [78118912, "74.5 MiB"], [8388608, "8.00 MiB"], [6045040640, "5.63 GiB"],
                 [104857600, "100 MiB"], [1048575, "1.00 MiB"], [-2048, "−2.00 KiB"],
                 [6422528, "6.12 MiB"], [6432358, "6.13 MiB"], [1000, "1000 B"], [1024000, "0.98 MiB"]];
  for (const [bytes, text] of cases) assert.equal(humanBytes(bytes), text);
  assert.equal(humanBytes(null), "unknown");
});

test("exact bytes, signs, counts, shares", () => {
  assert.equal(exactBytes(78118912), "78,118,912 bytes");
  assert.equal(exactBytes(1), "1 byte");
  assert.equal(grouped(9007199254740991), "9,007,199,254,740,991");
  assert.equal(signedBytes(1024), "+1.00 KiB");
  assert.equal(percent(1, 3), "33%");
  assert.equal(percent(1, 50), "2.0%");
  assert.equal(percent(1, 0), "0%");
  assert.equal(plural(1, "step"), "1 step");
  assert.equal(plural(1200, "match"), "1,200 matches");
  assert.equal(stepSpan(27, 30), "steps 27–29");
  assert.equal(stepSpan(27, 28), "step 27");
});

test("long names keep both ends and whole characters", () => {
  assert.equal(shorten("blk.0.attn_q.weight", 11), "blk.0…eight");
  assert.equal(shorten("short", 11), "short");
  assert.equal(shorten("🦙🦙🦙🦙🦙🦙", 6).isWellFormed?.() ?? true, true);
  assert.ok(!/[\ud800-\udbff](?![\udc00-\udfff])/.test(shorten("🦙".repeat(9), 8)));
  assert.ok(shorten("n".repeat(10000), 60).length <= 60);
});

test("what cannot be seen is shown, what turns text around is gone", () => {
  assert.equal(visible("a\u0000b\u202egnp\u2028"), "a\ufffdbgnp\ufffd");
  assert.equal(straight("needs \u202ex\n"), "needs x\n");
});

test("text for SVG is well-formed XML", () => {
  assert.equal(escapeXml("<a b=\"c\" & 'd'>\u0007"), "&lt;a b=&quot;c&quot; &amp; &#39;d&#39;&gt;\ufffd");
  assert.equal(escapeXml("\ud800x 🦙"), "\ufffdx 🦙");
});

test("ticks are round and apart", () => {
  assert.deepEqual(decimalTicks(0, 100, 5), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(decimalTicks(3, 5, 10), [3, 4, 5]);
  assert.deepEqual(binaryTicks(0, 100, 4), [0, 32, 64, 96]);
  const ticks = binaryTicks(31.2 * 2 ** 20, 31.2 * 2 ** 20 + 4096, 5);
  assert.equal(new Set(ticks.map((tick) => tickBytes(tick, ticks[1] - ticks[0]))).size, ticks.length);
  assert.equal(tickBytes(32 * 2 ** 20, 16 * 2 ** 20), "32.0 MiB");
});
