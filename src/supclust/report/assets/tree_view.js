// Drawing a tree: leaves along the bottom, heights upwards; zoomed along the leaves only.
const SVG = "http://www.w3.org/2000/svg";
const MARGIN = { left: 46, right: 14, top: 18 };
const MARKS = { wrong: "M-5 -5L5 5M5 -5L-5 5", mixed: "M0 -5L5 0L0 5L-5 0Z", parted: "M-3.5 -3.5H3.5V3.5H-3.5Z" };
const COLOURS = 10, SHAPES = 7, NAME_SPACE = 20, SLOT = 44;

function svgElement(name, attributes = {}, parent = null) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (parent) parent.append(made);
  return made;
}

function htmlElement(name, attributes = {}, words = "", parent = null) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = words;
  if (parent) parent.append(made);
  return made;
}

function showNumber(value) {
  if (value === null) return "∞";
  const size = Math.abs(value), far = size >= 1e5 || (size > 0 && size < 1e-4);
  const near = size >= 1000 ? value.toFixed(0) : String(Number(value.toPrecision(4)));
  return (far ? value.toExponential(2) : near).replaceAll("-", "−");
}

const colourOf = (code) => (code < 0 ? "none" : `k${code % COLOURS}`);
const shapeOf = (code) => `#m${code < 0 ? 0 : code % SHAPES}`;

class TreeView {
  constructor(stage) {
    this.stage = stage;
    this.svg = svgElement("svg", { "aria-hidden": "true", focusable: "false" });
    stage.prepend(this.svg);
    this.layers = {};
    const clip = `${stage.id}-clip`;
    this.window = svgElement("rect", { x: MARGIN.left - 7, y: 0 }, svgElement("clipPath", { id: clip }, this.svg));
    const inside = svgElement("g", { "clip-path": `url(#${clip})` });
    for (const name of ["axis", "branches", "leaves", "marks", "cut", "cursor"]) {
      this.layers[name] = svgElement("g", { class: name }, name === "axis" ? this.svg : inside);
    }
    this.svg.append(inside);
    this.even = false;
    this.hovered = this.selected = -1;
    new ResizeObserver(() => this.draw()).observe(stage);
  }

  show(model) {
    this.model = model;
    this.k = mergesBelow(model, model.tree.threshold);
    this.from = 0;
    this.to = Math.max(model.n, 1);
    this.hovered = this.selected = -1;
    for (const layer of Object.values(this.layers)) layer.replaceChildren();
    this.branches = model.tree.children.map((_, i) => {
      const node = model.n + i;
      const code = isPure(model, node) ? [...model.counts[node].keys()][0] : -1;
      return svgElement("path", { class: `branch ${colourOf(code)}`, "data-node": node }, this.layers.branches);
    });
    this.draw();
  }

  get width() { return Math.max(this.stage.clientWidth - MARGIN.left - MARGIN.right, 40); }
  get depth() { return Math.max(this.stage.clientHeight - MARGIN.top - this.bottom, 40); }
  get bottom() { return this.model.block.pictures || this.spacing >= NAME_SPACE ? 88 : 26; }
  get spacing() { return this.width / (this.to - this.from); }

  across(x) { return MARGIN.left + (x - this.from) * this.spacing; }

  up(share) { return MARGIN.top + (1 - share) * this.depth; }

  // Where a merge is drawn; infinite ones stand a little above the others.
  heightPlace(node) {
    const { model } = this;
    if (node < model.n) return this.up(0);
    if (this.even) return this.up((node - model.n + 1) / model.m);
    const height = heightOf(model, node);
    return this.up(height === null ? 1.02 : (0.98 * (height - model.base)) / (model.top - model.base));
  }

  cutPlace() {
    const { model, k } = this;
    if (this.even) return this.up((k + 0.5) / Math.max(model.m, 1));
    const share = (0.98 * (cutHeight(model, k) - model.base)) / (model.top - model.base);
    return this.up(Math.min(1.03, Math.max(0, share)));
  }

  draw() {
    if (!this.model || !this.stage.clientWidth) return;
    this.svg.setAttribute("viewBox", `0 0 ${this.stage.clientWidth} ${this.stage.clientHeight}`);
    this.svg.classList.toggle("dense", this.spacing < 5);
    this.window.setAttribute("width", this.width + 14);
    this.window.setAttribute("height", this.stage.clientHeight);
    this.drawAxis();
    this.drawBranches();
    this.drawLeaves();
    this.drawCursor();
  }

  drawAxis() {
    const { axis, cut } = this.layers, { model } = this, end = MARGIN.left + this.width;
    axis.replaceChildren();
    cut.replaceChildren();
    if (!this.even) {
      const rough = (model.top - model.base) / 5, power = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 2.5, 5, 10].map((s) => s * power).find((s) => s >= rough);
      for (let tick = Math.ceil(model.base / step) * step; tick <= model.top; tick += step) {
        const y = this.up((0.98 * (tick - model.base)) / (model.top - model.base));
        svgElement("line", { x1: MARGIN.left, x2: end, y1: y, y2: y }, axis);
        svgElement("text", { x: MARGIN.left - 6, y: y + 4, "text-anchor": "end" }, axis).textContent =
          showNumber(Number(tick.toPrecision(6)));
      }
    }
    svgElement("text", { x: 4, y: 12 }, axis).textContent = this.even ? "order of merging" : "height";
    const y = this.cutPlace();
    svgElement("line", { x1: MARGIN.left, x2: end, y1: y, y2: y }, cut);
    const chosen = this.k === mergesBelow(model, model.tree.threshold) && model.tree.threshold !== null;
    const words = `${chosen ? "chosen cut" : "cut"} ${showNumber(cutHeight(model, this.k))}`;
    svgElement("text", { x: end, y: y - 5, "text-anchor": "end" }, cut).textContent = words;
  }

  drawBranches() {
    const { model } = this, { marks } = this.layers;
    marks.replaceChildren();
    this.branches.forEach((path, i) => {
      const node = model.n + i;
      const visible = model.high[node] > this.from && model.low[node] < this.to;
      path.toggleAttribute("hidden", !visible);
      path.style.display = visible ? "" : "none";
      if (!visible) return;
      const [left, right] = model.tree.children[i], y = this.heightPlace(node);
      const a = this.across(model.x[left]), b = this.across(model.x[right]);
      path.setAttribute("d", `M${a} ${this.heightPlace(left)}V${y}H${b}V${this.heightPlace(right)}`);
      const kind = kindOf(model, node, this.k);
      path.classList.toggle("wrong", kind === "wrong");
      const x = this.across(model.x[node]);
      if (kind !== "plain" && x > MARGIN.left - 6 && x < MARGIN.left + this.width + 6) {
        svgElement("path", { class: `mark ${kind}`, d: MARKS[kind], "data-node": node,
          transform: `translate(${x} ${y}) scale(${Math.min(1, Math.max(0.65, this.spacing / 5))})` }, marks);
      }
    });
  }

  drawLeaves() {
    const { model } = this, { leaves } = this.layers, y = this.up(0) + 8;
    const { block } = model, wide = this.spacing;
    leaves.replaceChildren();
    const first = Math.max(0, Math.floor(this.from)), last = Math.min(model.n, Math.ceil(this.to));
    for (let index = first; index < last; index += 1) {
      const leaf = model.order[index], x = this.across(index + 0.5);
      const points = model.tree.leaves[leaf], code = isPure(model, leaf) ? block.labels[points[0]] : -1;
      const scale = Math.min(1, Math.max(0.35, wide / 11));
      svgElement("use", { href: shapeOf(code), class: `leaf ${colourOf(code)}`,
        transform: `translate(${x} ${y}) scale(${scale})` }, leaves);
      if (wide >= NAME_SPACE && !block.pictures) {
        const label = svgElement("text", { transform: `translate(${x - 3} ${y + 12}) rotate(60)` }, leaves);
        label.textContent = this.leafName(leaf).slice(0, 14);
      }
    }
    if (block.pictures) this.drawPictures(y);
  }

  // A picture under every leaf, or where leaves are too narrow, of as many as fit.
  drawPictures(y) {
    const { model } = this, { leaves } = this.layers, { pictures } = model.block, wide = Math.max(this.spacing, SLOT);
    const side = Math.min(wide - 4, 52);
    for (let slot = 0; slot < Math.floor(this.width / wide + 0.01); slot += 1) {
      const index = Math.floor(this.from + ((slot + 0.5) * wide) / this.spacing);
      const leaf = model.order[index];
      if (leaf === undefined) continue;
      const x = MARGIN.left + (slot + 0.5) * wide, shift = this.across(index + 0.5);
      const middle = this.spacing >= SLOT ? shift : x;
      if (this.spacing < SLOT) svgElement("path", { class: "lead", d: `M${shift} ${y + 6}L${x} ${y + 13}` }, leaves);
      svgElement("image", { href: pictures[model.tree.leaves[leaf][0]], x: middle - side / 2, y: y + 14, width: side,
        height: Math.min(side * 1.22, 62), preserveAspectRatio: "xMidYMin meet" }, leaves);
    }
  }

  leafName(leaf) {
    const points = this.model.tree.leaves[leaf];
    return points.length === 1 ? this.model.block.ids[points[0]] : `${points.length} points`;
  }

  // The subtree under the pointer, and the selected node.
  drawCursor() {
    const { model } = this, { cursor } = this.layers, lit = this.hovered >= 0 ? this.hovered : this.selected;
    cursor.replaceChildren();
    this.branches.forEach((path, i) => {
      const node = model.n + i;
      const inside = lit >= model.n && node <= lit && model.low[node] >= model.low[lit] && model.high[node] <= model.high[lit];
      path.classList.toggle("lit", inside);
    });
    for (const [node, kind] of [[this.hovered, "hovered"], [this.selected, "selected"]]) {
      if (node < 0) continue;
      const offset = node < model.n ? 8 : 0;
      svgElement("circle", { class: kind, cx: this.across(model.x[node]), cy: this.heightPlace(node) + offset, r: 9 }, cursor);
    }
  }

  // The node whose merge (or leaf) is nearest to a point, or -1.
  nodeAt(px, py) {
    const { model } = this;
    let best = -1, nearest = 14;
    this.branches.forEach((path, i) => {
      if (path.style.display === "none") return;
      const node = model.n + i, [left, right] = model.tree.children[i];
      const a = this.across(model.x[left]), b = this.across(model.x[right]);
      const off = Math.max(a - px, px - b, 0);
      const distance = Math.hypot(off, py - this.heightPlace(node)) + 0.001 * Math.abs(px - this.across(model.x[node]));
      if (distance < nearest) [best, nearest] = [node, distance];
    });
    if (py > this.up(0) && px > MARGIN.left) {
      const index = Math.floor(this.from + (px - MARGIN.left) / this.spacing);
      if (index >= 0 && index < model.n && (best < 0 || py > this.up(0) + 4)) best = model.order[index];
    }
    return best;
  }

  // Show the leaves from..to, at least three of them and none beyond the tree.
  zoomTo(from, to) {
    const whole = Math.max(this.model.n, 1), span = Math.min(whole, Math.max(to - from, Math.min(3, whole)));
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(0, middle - span / 2), whole - span);
    this.to = this.from + span;
    this.draw();
  }

  zoomBy(factor, at = (this.from + this.to) / 2) {
    const share = (at - this.from) / (this.to - this.from), span = (this.to - this.from) * factor;
    this.zoomTo(at - share * span, at + (1 - share) * span);
  }

  moveBy(share) {
    const shift = share * (this.to - this.from);
    this.zoomTo(this.from + shift, this.to + shift);
  }

  reveal(node) {
    const { model } = this, x = model.x[node];
    if (x < this.from || x > this.to) this.zoomTo(this.from + x - (this.from + this.to) / 2, this.to + x - (this.from + this.to) / 2);
    else this.draw();
  }
}
