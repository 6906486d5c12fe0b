// The rules of the join: the build joins the modules correctly only if they follow these rules.

import assert from "node:assert/strict";
import {readFileSync, readdirSync} from "node:fs";
import {join} from "node:path";
import test from "node:test";
import vm from "node:vm";
import {VIEWER, joinModule, joinedPage, joinedScript, moduleNames} from "./join.js";

const IMPORT = /^import \{([A-Za-z0-9_$, ]+)\} from "\.\/([a-z_]+\.js)";$/;
const sources = new Map(moduleNames().map((name) => [name, readFileSync(join(VIEWER, name), "utf8")]));

test("modules.txt lists every module once, main.js last", () => {
  const files = readdirSync(VIEWER).filter((name) => name.endsWith(".js")).sort();
  assert.deepEqual([...moduleNames()].sort(), files);
  assert.equal(moduleNames().at(-1), "main.js");
});

test("imports are one line each, without renames, and come from modules before", () => {
  const seen = new Set();
  for (const [name, text] of sources) {
    for (const line of text.split("\n").filter((each) => /^\s*import\b/.test(each))) {
      const found = IMPORT.exec(line);
      assert.ok(found, `${name}: ${line}`);
      assert.ok(seen.has(found[2]), `${name} imports ${found[2]}, which comes later`);
      for (const word of found[1].split(",").map((each) => each.trim())) {
        assert.match(sources.get(found[2]), new RegExp(`^export (?:async )?(?:const|function|class) ${word.replace("$", "\\$")}\\b`, "m"),
                     `${name}: ${word} of ${found[2]}`);
      }
    }
    seen.add(name);
  }
});

test("imported names are used, and exported ones too", () => {
  const imported = new Set();
  for (const [name, text] of sources) {
    const body = joinModule(text);
    for (const line of text.split("\n").filter((each) => each.startsWith("import "))) {
      for (const word of IMPORT.exec(line)[1].split(",").map((each) => each.trim())) {
        assert.match(body, new RegExp(`\\b${word}\\b`), `${name} does not use ${word}`);
        imported.add(word);
      }
    }
  }
  const tests = readdirSync(join(VIEWER, "test")).map((name) => readFileSync(join(VIEWER, "test", name), "utf8")).join("\n");
  for (const [name, text] of sources) {
    for (const [, word] of text.matchAll(/^export (?:async )?(?:const|function|class) ([A-Za-z0-9_]+)/gm)) {
      assert.ok(imported.has(word) || new RegExp(`\\b${word}\\b`).test(tests), `${name}: nobody imports ${word}`);
    }
  }
});

test("exports are declarations in the first column: no default, no list, no star", () => {
  for (const [name, text] of sources) {
    for (const line of text.split("\n").filter((each) => /^\s*export\b/.test(each))) {
      assert.match(line, /^export (async function|function|class|const) /, `${name}: ${line}`);
    }
  }
});

test("names of the first column are unique over all modules", () => {
  const owners = new Map();
  for (const [name, text] of sources) {
    for (const [, word] of text.matchAll(/^(?:export )?(?:async )?(?:const|let|function\*?|class) ([A-Za-z0-9_$]+)/gm)) {
      assert.ok(!owners.has(word), `${word} is in ${owners.get(word)} and ${name}`);
      owners.set(word, name);
    }
  }
});

test("the joined text parses as one scope and cannot end its element", () => {
  const script = joinedScript();
  assert.doesNotThrow(() => new vm.Script(`(async () => {\n${script}\n})`));
  assert.doesNotMatch(script, /<\/script|<!--/i);
  assert.doesNotMatch(readFileSync(join(VIEWER, "style.css"), "utf8"), /<\/style|<!--/i);
});

test("nothing parses HTML, evaluates text or asks the network", () => {
  assert.doesNotMatch(joinedScript(), /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|fetch\(|XMLHttpRequest|WebSocket|sendBeacon|import\(/);
});

test("the template has each mark once, and a page has none left", () => {
  const template = readFileSync(join(VIEWER, "index.html"), "utf8");
  for (const mark of ["title", "style", "script", "data"]) assert.equal(template.split(`<!-- stowage:${mark} -->`).length, 2, mark);
  const page = joinedPage({schema: "stowage.page/1"}, "<b>");
  assert.doesNotMatch(page, /<!-- stowage:/);
  assert.match(page, /<title>\n&lt;b&gt;\n<\/title>/);
});

test("modules and functions stay small", () => {
  for (const [name, text] of sources) {
    const lines = text.split("\n");
    assert.ok(lines.length <= 401, `${name} has ${lines.length} lines`);
    let start = -1;
    lines.forEach((line, at) => {
      if (/^(export )?(async )?function |^  [a-zA-Z]+\(.*\) \{$|^  get /.test(line)) start = at;
      if (/^\}|^  \}$/.test(line) && start >= 0) {
        assert.ok(at - start < 41, `${name}:${start + 1} has ${at - start + 1} lines`);
        start = -1;
      }
    });
  }
});
