// A tree as arrays, without any drawing. Nodes: leaves 0..n-1, merge k is node n + k.
function treeModel(block, tree) {
  const n = tree.leaves.length, m = tree.children.length, count = n + m;
  const model = {
    block, tree, n, m, count, root: count - 1,
    parent: new Array(count).fill(-1), x: new Array(count), low: new Array(count),
    high: new Array(count), order: [],
  };
  tree.children.forEach(([left, right], k) => {
    model.parent[left] = model.parent[right] = n + k;
  });
  placeLeaves(model);
  model.base = Math.min(0, ...tree.heights.filter((h) => h !== null));
  const finite = tree.heights.filter((h) => h !== null);
  model.top = finite.length ? Math.max(...finite) : 1;
  if (model.base < 0) model.base -= 0.05 * (model.top - model.base);
  if (model.top <= model.base) model.top = model.base + 1;
  model.counts = Array.from({ length: count }, (_, node) => clusterCounts(model, node));
  return model;
}

// Leaves from left to right so that no branches cross; merges stand above the middle of theirs.
function placeLeaves(model) {
  const { n, tree } = model;
  const stack = [model.root];
  while (stack.length) {
    const node = stack.pop();
    if (node < n) {
      model.x[node] = model.order.length + 0.5;
      model.low[node] = model.order.length;
      model.high[node] = model.order.push(node);
    } else {
      const [left, right] = tree.children[node - n];
      stack.push(right, left);
    }
  }
  tree.children.forEach(([left, right], k) => {
    model.x[n + k] = (model.x[left] + model.x[right]) / 2;
    model.low[n + k] = Math.min(model.low[left], model.low[right]);
    model.high[n + k] = Math.max(model.high[left], model.high[right]);
  });
}

// Points of every true cluster below a node, as a map from code to number; children come first.
function clusterCounts(model, node) {
  const counts = new Map();
  if (node < model.n) {
    for (const point of model.tree.leaves[node]) {
      const code = model.block.labels[point];
      if (code >= 0) counts.set(code, (counts.get(code) || 0) + 1);
    }
    return counts;
  }
  model.partial = model.partial || [];
  for (const child of model.tree.children[node - model.n]) {
    const below = child < model.n ? clusterCounts(model, child) : model.partial[child];
    for (const [code, number] of below) counts.set(code, (counts.get(code) || 0) + number);
  }
  model.partial[node] = counts;
  return counts;
}

const heightOf = (model, node) => (node < model.n ? null : model.tree.heights[node - model.n]);
const sizeOf = (model, node) =>
  node < model.n ? model.tree.leaves[node].length : model.tree.size[node - model.n];
const isPure = (model, node) => model.counts[node].size === 1; // of those that are known
const isKnown = (model, node) => model.counts[node].size > 0;

function purityOf(model, node) {
  const numbers = [...model.counts[node].values()];
  return Math.max(...numbers) / numbers.reduce((a, b) => a + b, 0);
}

// Points below a node, in the order of the leaves.
function pointsOf(model, node) {
  return model.order.slice(model.low[node], model.high[node]).flatMap((leaf) => model.tree.leaves[leaf]);
}

// How many of the merges, lowest first, a cut at a height applies.
function mergesBelow(model, height) {
  if (height === null) return 0;
  let k = 0;
  while (k < model.m && model.tree.heights[k] !== null && model.tree.heights[k] <= height) k += 1;
  return k;
}

// The height that stands for a cut after k merges: the chosen one, or the middle of the gap.
function cutHeight(model, k) {
  const { heights, threshold } = model.tree;
  if (threshold !== null && mergesBelow(model, threshold) === k) return threshold;
  const below = k > 0 ? heights[k - 1] : model.base, above = k < model.m ? heights[k] : model.top;
  if (below === null) return model.top;
  return above === null || above < below ? below : (below + above) / 2;
}

// Clusters, precision, recall and F1 of the block when the k lowest merges are applied.
function cutScores(model, k) {
  let [joined, same] = model.tree.inside;
  for (let i = 0; i < k; i += 1) {
    joined += model.tree.joined[i];
    same += model.tree.same[i];
  }
  const truth = model.tree.true_pairs;
  return {
    clusters: model.n - k,
    precision: joined ? same / joined : 1,
    recall: truth ? same / truth : 1,
    f1: joined + truth ? (2 * same) / (joined + truth) : 1,
  };
}

// What a merge is at a cut after k merges: wrong, mixed, parted or plain.
function kindOf(model, node, k) {
  if (!isKnown(model, node) || node < model.n) return "plain";
  const applied = node - model.n < k;
  if (!isPure(model, node)) return applied ? "wrong" : "mixed";
  return applied ? "plain" : "parted";
}
