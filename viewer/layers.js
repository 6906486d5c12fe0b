// Layers as categories. A model may have thousands, one inside the other ("encoder.layer.5.attention.self"): they are cut to
// the deepest level that has few enough, the same for both plans of a comparison. No DOM.

import {holderLayer} from "./model.js";

const MOST_GROUPS = 120;

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

function groupsOf(layers) {
  const depth = depthOf(layers);
  return new Map(layers.map((layer) => [layer, depth === Infinity ? layer : cut(layer, depth)]));
}

// Whether a holder is in an arena that counts. Weights have levels of their own: their names are deeper.
function isCounted(plan, holder) {
  return plan.arenas[plan.holders.arena[holder]].counts ? 1 : 0;
}

// Sets `layerGroups` of the plans: the label of each layer, in arenas that do not count and in those that do.
export function groupLayers(plans) {
  const layers = [new Set(), new Set()];
  for (const plan of plans) {
    for (let holder = 0; holder < plan.holders.count; holder += 1) layers[isCounted(plan, holder)].add(holderLayer(plan, holder));
  }
  const groups = layers.map((own) => groupsOf([...own]));
  for (const plan of plans) plan.layerGroups = groups;
}

// "encoder.layer.5"; "" where nothing says which.
export function layerGroup(plan, holder) {
  if (!plan.layerGroups) groupLayers([plan]);
  return plan.layerGroups[isCounted(plan, holder)].get(holderLayer(plan, holder)) || "";
}
