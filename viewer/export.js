// The view as a file: PNG of what is on the screen, SVG of the rectangles that it shows.

import {drawAxes, drawCurve, drawNames, drawRegions, xOf, yOf} from "./draw.js";
import {humanBytes, shorten} from "./format.js";
import {el} from "./dom.js";
import {drawMarks} from "./overlay.js";
import {holderName} from "./model.js";
import {mixColours, parseColour, toHex} from "./palette.js";
import {SvgPainter} from "./painter.js";
import {visitSpan} from "./pieces.js";

const TITLED = 3;

// Scenes, one below the other, as an SVG document: [{scene, marks}]. Rectangles of three pixels or more have their names as
// titles; smaller ones are one path per colour.
export function stagesSvg(shown, title) {
  const painter = new SvgPainter();
  let top = 0;
  for (const {scene, marks} of shown) {
    painter.below(top, scene.box.width, scene.box.height, () => drawScene(painter, scene, marks));
    top += scene.box.height;
  }
  return painter.finish(Math.max(...shown.map(({scene}) => scene.box.width)), top, title);
}

function drawScene(painter, scene, marks) {
  const {box, theme} = scene;
  painter.rect(0, 0, box.width, box.height, theme.background);
  painter.clipped(box.left, box.map.top, box.mapWidth, box.map.height, () => drawRectangles(painter, scene));
  drawRegions(painter, scene);
  drawNames(painter, scene, 2000);
  drawAxes(painter, scene);
  drawCurve(painter, scene);
  drawMarks(painter, scene, {...marks, hover: null});
}

function drawRectangles(painter, scene) {
  const {index, view, plan} = scene;
  const small = new Map();
  visitSpan(index, Math.floor(view.x0), Math.ceil(view.x1), (i) => {
    if (index.low[i] >= view.y1 || index.low[i] + index.size[i] <= view.y0) return;
    const holder = index.holder[i];
    const fill = fillOf(scene, holder);
    const x = xOf(scene, index.first[i]);
    const y = yOf(scene, index.low[i] + index.size[i]);
    const width = xOf(scene, index.end[i]) - x;
    const height = yOf(scene, index.low[i]) - y;
    if (width < TITLED || height < TITLED) {
      if (!small.has(fill)) small.set(fill, []);
      small.get(fill).push(x, y, Math.max(width, 0.3), Math.max(height, 0.3));
      return;
    }
    painter.rect(x, y, width - 0.75, height - 0.75, fill, `${shorten(holderName(plan, holder), 200)}, ${humanBytes(index.size[i])}`);
  });
  for (const [fill, boxes] of small) painter.rects(boxes, fill);
}

function fillOf(scene, holder) {
  const colour = scene.colours[scene.categoryOf[holder]];
  return toHex(scene.lit && !scene.lit[holder] ? mixColours(colour, parseColour(scene.theme.background), 0.84) : colour);
}

// Both layers of each stage, one stage below the other.
export function stagesPng(stages, done) {
  const canvas = el("canvas", {});
  canvas.width = Math.max(...stages.map((stage) => stage.base.width));
  canvas.height = stages.reduce((sum, stage) => sum + stage.base.height, 0);
  const context = canvas.getContext("2d");
  let top = 0;
  for (const stage of stages) {
    context.drawImage(stage.base, 0, top);
    context.drawImage(stage.over, 0, top);
    top += stage.base.height;
  }
  canvas.toBlob(done, "image/png");
}

export function download(blob, name) {
  const url = URL.createObjectURL(blob);
  const anchor = el("a", {href: url, download: name});
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// A title as a file name that is valid on every system.
export function fileName(title, ending) {
  const name = title.replace(/\.(json|csv|onnx|tflite|gz)\b/g, "").replace(/[^A-Za-z0-9._-]+/g, "_").replace(/^[._]+/, "").slice(0, 60);
  return `${name || "stowage"}.${ending}`;
}
