// One map with its curve: two canvases, one above the other, and a view. The lower one holds what changes with the
// view, the upper one what follows the pointer. The map itself is kept as a picture: panning shifts it, and while
// zooming, if painting takes long (a hundred thousand holders at once), the old picture is stretched until the view
// rests.

import {el} from "./dom.js";
import {drawAxes, drawCurve, drawNames, drawRegions, stageBox} from "./draw.js";
import {CanvasPainter} from "./painter.js";
import {makeRaster, paintView} from "./raster.js";
import {approach, clampView, sameView, wholeView} from "./viewport.js";

const SLOW = 24;
const REST = 90;
const MOST_PIXELS = 3e6;

export class Stage {
  constructor(plan, label) {
    this.plan = plan;
    this.base = el("canvas", {class: "base", "aria-hidden": "true"});
    this.over = el("canvas", {class: "over", tabindex: "0", role: "application", "aria-label": label,
                              "aria-roledescription": "memory map"});
    this.root = el("div", {class: "stage"}, this.base, this.over);
    this.scene = null;
    this.target = null;
    this.picture = null;
    this.paintTime = 0;
    this.paintedAt = 0;
    this.dirty = {base: true, over: true};
    this.still = false;
  }

  // A scene without box and view; the view is the whole unless one is given.
  show(scene, view) {
    this.scene = {...scene, box: stageBox(this.width || 600, this.height || 400),
                  view: clampView(view || wholeView(scene.limits), scene.limits)};
    this.target = this.scene.view;
    this.dirty = {base: true, over: true};
  }

  resize(width, height) {
    if (width < 80 || height < 80) return;
    this.width = width;
    this.height = height;
    this.ratio = Math.min(window.devicePixelRatio || 1, Math.sqrt(MOST_PIXELS / (width * height)));
    for (const canvas of [this.base, this.over]) {
      canvas.width = Math.round(width * this.ratio);
      canvas.height = Math.round(height * this.ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    this.picture = null;
    if (this.scene) this.scene.box = stageBox(width, height);
    this.dirty = {base: true, over: true};
  }

  setView(view, smooth) {
    if (!this.scene) return;
    this.target = clampView(view, this.scene.limits);
    if (!smooth || this.still) this.scene.view = this.target;
    this.dirty.base = true;
    this.dirty.over = true;
  }

  get moving() {
    return this.scene !== null && !sameView(this.scene.view, this.target);
  }

  // One frame. Returns whether another one is needed.
  frame(now, drawOver) {
    if (!this.scene || !this.width) return false;
    if (this.moving) {
      this.scene.view = approach(this.scene.view, this.target, 0.32);
      this.dirty.base = this.dirty.over = true;
    }
    let again = this.moving;
    if (this.dirty.base) {
      const stretched = this.drawBase(now);
      this.dirty.base = stretched;
      again = again || stretched;
    }
    if (this.dirty.over) {
      this.dirty.over = false;
      const context = this.over.getContext("2d");
      context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
      context.clearRect(0, 0, this.width, this.height);
      drawOver(this, new CanvasPainter(context));
    }
    return again;
  }

  // Returns whether the map is a stretched one that must still be painted.
  drawBase(now) {
    const {scene} = this;
    const context = this.base.getContext("2d", {alpha: false});
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    const painter = new CanvasPainter(context);
    painter.rect(0, 0, this.width, this.height, scene.theme.background);
    const stretched = this.drawMap(context, now);
    drawRegions(painter, scene);
    drawNames(painter, scene, 400);
    drawAxes(painter, scene);
    drawCurve(painter, scene);
    return stretched;
  }

  drawMap(context, now) {
    const {box, view} = this.scene;
    const picture = this.preparePicture(box);
    const scaled = picture.view && !sameSpan(picture.view, view);
    const wait = scaled && this.paintTime > SLOW && now - this.paintedAt < REST && picture.version === this.scene.pixels.version &&
                 picture.raster.index === this.scene.index;
    if (scaled) this.paintedAt = wait ? this.paintedAt : now;
    if (!wait) this.paintPicture(picture, view);
    const [left, top, width, height] = wait ? placeOf(picture.view, view, box) : [box.left, box.map.top, box.mapWidth, box.map.height];
    context.save();
    context.beginPath();
    context.rect(box.left, box.map.top, box.mapWidth, box.map.height);
    context.clip();
    context.imageSmoothingEnabled = wait;
    context.drawImage(picture.canvas, left, top, width, height);
    context.restore();
    return Boolean(wait);
  }

  preparePicture(box) {
    const width = Math.max(1, Math.round(box.mapWidth * this.ratio));
    const height = Math.max(1, Math.round(box.map.height * this.ratio));
    if (!this.picture || this.picture.raster.width !== width || this.picture.raster.height !== height) {
      const raster = makeRaster(width, height);
      const canvas = el("canvas", {width: String(width), height: String(height)});
      const context = canvas.getContext("2d", {alpha: false, willReadFrequently: true});
      this.picture = {raster, canvas, context, image: new ImageData(raster.bytes, width, height), view: null, version: -1};
    }
    return this.picture;
  }

  paintPicture(picture, view) {
    const start = performance.now();
    const full = !picture.view || !sameSpan(picture.view, view);
    for (const part of paintView(picture.raster, this.scene.index, this.scene.pixels, view)) {
      picture.context.putImageData(picture.image, 0, 0, part.x, part.y, part.width, part.height);
    }
    picture.view = view;
    picture.version = this.scene.pixels.version;
    if (full) this.paintTime = performance.now() - start;
  }
}

function sameSpan(a, b) {
  const close = (p, q) => Math.abs(p - q) <= 1e-9 * Math.abs(q);
  return close(a.x1 - a.x0, b.x1 - b.x0) && close(a.y1 - a.y0, b.y1 - b.y0);
}

// Where a picture of another view lies in this one: [left, top, width, height].
function placeOf(old, view, box) {
  const scaleX = box.mapWidth / (view.x1 - view.x0);
  const scaleY = box.map.height / (view.y1 - view.y0);
  return [box.left + (old.x0 - view.x0) * scaleX, box.map.top + (view.y1 - old.y1) * scaleY, (old.x1 - old.x0) * scaleX,
          (old.y1 - old.y0) * scaleY];
}
