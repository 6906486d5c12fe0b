// Layers as categories. A model may have thousands, one inside the other ("encoder.layer.5.attention.self"): they are cut to
// the deepest level that has few enough, the same for all plans of a page. No DOM.

import {holderLayer} from "./model.js";

const MOST_GROUPS = 40;

function cut(layer, depth) {
  const parts = layer.split(/([./])/);
  return parts.slice(0, 2 * depth - 1).join("");
}

// The number of parts that labels have; Infinity: all.
function depthOf(layers) {
  const deepest = Math.max(0, ...layers.map((layer) => layer.split(/[./]/).length));
  let best = Infinity;
  for (let depth = 1; depth <= deepest; depth += 1) {
    if (new Set(layers.map((layer) => cut(layer, depth))).size > MOST_GROUPS) break;
    best = depth;
  }
  return best;
}

// Sets `layerGroups` of the plans: the label of each layer.
export function groupLayers(plans) {
  const layers = [...new Set(plans.flatMap((plan) => Array.from(plan.holders.scope, (_, holder) => holderLayer(plan, holder))))];
  const depth = depthOf(layers);
  const groups = new Map(layers.map((layer) => [layer, depth === Infinity ? layer : cut(layer, depth)]));
  for (const plan of plans) plan.layerGroups = groups;
}

// "encoder.layer.5"; "" where nothing says which.
export function layerGroup(plan, holder) {
  if (!plan.layerGroups) groupLayers([plan]);
  return plan.layerGroups.get(holderLayer(plan, holder)) || "";
}
