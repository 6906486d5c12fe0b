// node viewer/test/make_page.js OUT [--tensors N] [--diff] [--replay] [--sweep] [--hostile] [--plain] [--gap] [--layers] [--capacity BYTES] [--budget BYTES] [--data FILE.json]
// Writes a page with sample data, or with data from a file, so that the viewer can be tried without the program. Without OUT it
// does nothing: `node --test` runs every file of this folder.

import {readFileSync, writeFileSync} from "node:fs";
import {joinedPage} from "./join.js";
import {sampleDiffPage, samplePage, sampleReplayPage, sampleSweepPage} from "./sample.js";

function optionsOf(words) {
  const options = {};
  for (let i = 0; i < words.length; i += 1) {
    const name = words[i].slice(2);
    if (["tensors", "capacity", "budget"].includes(name)) options[name] = Number(words[++i]);
    else if (name === "data") options.data = words[++i];
    else if (["diff", "replay", "sweep", "hostile", "plain", "gap", "layers"].includes(name)) options[name] = true;
    else throw new Error(`there is no option '${words[i]}'`);
  }
  return options;
}

function dataOf(options) {
  if (options.data) return JSON.parse(readFileSync(options.data, "utf8"));
  if (options.replay) return sampleReplayPage();
  if (options.sweep) return sampleSweepPage(options);
  return options.diff ? sampleDiffPage(options) : samplePage(options);
}

const [out, ...words] = process.argv.slice(2);
if (out) {
  const data = dataOf(optionsOf(words));
  writeFileSync(out, joinedPage(data, data.title));
}
