// The same join as in the build, in a few lines of node, for tests and for pages without the program.

import {readFileSync} from "node:fs";
import {dirname, join as joinPath} from "node:path";
import {fileURLToPath} from "node:url";
import {gzipSync} from "node:zlib";

export const VIEWER = joinPath(dirname(fileURLToPath(import.meta.url)), "..");

export function moduleNames() {
  return readFileSync(joinPath(VIEWER, "modules.txt"), "utf8").split("\n").filter(Boolean);
}

export function joinedScript() {
  return moduleNames().map((name) => joinModule(readFileSync(joinPath(VIEWER, name), "utf8"))).join("\n");
}

export function joinModule(text) {
  return text.split("\n").filter((line) => !line.startsWith("import ")).map((line) => line.replace(/^export /, "")).join("\n");
}

// One page. Inserted text is never searched again: data that contains a mark stays data.
export function joinedPage(data, title) {
  const escaped = title.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const parts = {
    title: escaped,
    style: readFileSync(joinPath(VIEWER, "style.css"), "utf8"),
    script: joinedScript(),
    data: gzipSync(Buffer.from(JSON.stringify(data))).toString("base64"),
  };
  const template = readFileSync(joinPath(VIEWER, "index.html"), "utf8");
  return template.replace(/<!-- stowage:(title|style|script|data) -->/g, (mark, name) => parts[name]);
}
