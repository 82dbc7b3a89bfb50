// What a reader does with a tree: choose, point, click, drag, zoom, keys, cut.
const MOST_SHOWN = 18;

class TreeControls {
  constructor(root) {
    this.data = JSON.parse(document.getElementById(root.dataset.source).textContent);
    this.part = (role) => root.querySelector(`[data-role="${role}"]`);
    this.stage = this.part("stage");
    this.view = new TreeView(this.stage);
    for (const role of ["block", "linkage"]) this.part(role).addEventListener("change", () => this.load());
    this.part("scale").addEventListener("change", (event) => {
      this.view.even = event.target.value === "1";
      this.view.draw();
    });
    this.part("cut").addEventListener("input", (event) => this.cut(Number(event.target.value)));
    for (const button of root.querySelectorAll("[data-act]")) {
      button.addEventListener("click", () => this.act(button.dataset.act));
    }
    this.stage.addEventListener("keydown", (event) => this.key(event));
    this.stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.stage.addEventListener("pointerleave", () => this.point(-1));
    this.stage.addEventListener("dblclick", (event) => this.zoomToNode(this.nodeAt(event)));
    this.followPointers();
    this.load();
  }

  load() {
    const block = this.data.blocks[this.part("block").value];
    const tree = this.data.linkages[this.part("linkage").value].trees[this.part("block").value];
    this.model = treeModel(block, tree);
    this.view.show(this.model);
    this.part("cut").max = this.model.m;
    this.listClusters();
    this.cut(this.view.k);
    this.select(-1);
  }

  cut(k) {
    this.view.k = k;
    this.view.draw();
    const slider = this.part("cut"), scores = cutScores(this.model, k);
    const height = showNumber(cutHeight(this.model, k)), percent = (x) => `${(100 * x).toFixed(1)} %`;
    slider.value = k;
    let words = `height ${height}: ${scores.clusters} clusters`;
    if (this.model.tree.labelled) {
      words += `, F1 ${percent(scores.f1)} (precision ${percent(scores.precision)}, recall ${percent(scores.recall)})`;
    }
    slider.setAttribute("aria-valuetext", words);
    this.part("scores").textContent = words;
  }

  act(name) {
    const { view, model } = this;
    if (name === "in") view.zoomBy(1 / 1.6);
    if (name === "out") view.zoomBy(1.6);
    if (name === "left") view.moveBy(-0.25);
    if (name === "right") view.moveBy(0.25);
    if (name === "fit") view.zoomTo(0, model.n);
    if (name === "reset") this.cut(mergesBelow(model, model.tree.threshold));
    if (name === "next") this.nextWrong();
  }

  // The next wrong merge after the selected one, from the lowest; mixed ones where none is wrong.
  nextWrong() {
    const { model, view } = this;
    const merges = model.tree.children.map((_, i) => model.n + i);
    const wrong = merges.filter((node) => kindOf(model, node, view.k) === "wrong");
    const candidates = wrong.length ? wrong : merges.filter((node) => kindOf(model, node, view.k) === "mixed");
    if (!candidates.length) return;
    this.select(candidates.find((node) => node > view.selected) ?? candidates[0]);
    const node = view.selected, pad = 1 + (model.high[node] - model.low[node]) / 4;
    view.zoomTo(model.low[node] - pad, model.high[node] + pad);
  }

  zoomToNode(node) {
    if (node < 0) return;
    const pad = 0.5 + (this.model.high[node] - this.model.low[node]) / 20;
    this.view.zoomTo(this.model.low[node] - pad, this.model.high[node] + pad);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { view } = this, shifted = event.shiftKey;
    const actions = {
      ArrowUp: () => this.walk("up"), ArrowDown: () => this.walk("down"),
      ArrowLeft: () => (shifted ? view.moveBy(-0.25) : this.walk("left")),
      ArrowRight: () => (shifted ? view.moveBy(0.25) : this.walk("right")),
      "+": () => this.act("in"), "=": () => this.act("in"), "-": () => this.act("out"),
      0: () => this.act("fit"), n: () => this.act("next"), N: () => this.act("next"),
      Enter: () => this.zoomToNode(view.selected),
      Escape: () => { this.select(-1); this.stage.blur(); },
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  // From the selected node to its parent, its first child, or the other child of its parent.
  walk(direction) {
    const { model, view } = this, node = view.selected;
    if (node < 0) return this.select(model.root);
    const parent = model.parent[node];
    let next = -1;
    if (direction === "up") next = parent;
    else if (direction === "down") next = node >= model.n ? model.tree.children[node - model.n][0] : -1;
    else if (parent >= 0) {
      const pair = [...model.tree.children[parent - model.n]].sort((a, b) => model.x[a] - model.x[b]);
      next = pair[direction === "left" ? 0 : 1];
    }
    if (next >= 0) this.select(next);
    return undefined;
  }

  wheel(event) {
    if (!event.ctrlKey && document.activeElement !== this.stage) return;
    event.preventDefault();
    const { view } = this;
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) return view.moveBy(event.deltaX / 800);
    const at = view.from + (this.position(event).x - MARGIN.left) / view.spacing;
    return view.zoomBy(Math.exp(event.deltaY / 400), at);
  }

  position(event) {
    const box = this.stage.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  nodeAt(event) {
    const { x, y } = this.position(event);
    return this.view.nodeAt(x, y);
  }

  // One pointer points, clicks and drags; two zoom.
  followPointers() {
    const { stage, view } = this, down = new Map();
    let moved = false;
    stage.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      down.set(event.pointerId, this.position(event));
      moved = false;
    });
    stage.addEventListener("pointermove", (event) => {
      const now = this.position(event), before = down.get(event.pointerId);
      if (!before) return this.point(this.nodeAt(event), now);
      if (!moved && Math.hypot(now.x - before.x, now.y - before.y) < 4) return undefined;
      if (!moved) stage.setPointerCapture(event.pointerId);
      moved = true;
      this.point(-1);
      if (down.size === 2) {
        const other = [...down].find(([id]) => id !== event.pointerId)[1];
        const factor = Math.abs(before.x - other.x) / Math.max(Math.abs(now.x - other.x), 8);
        view.zoomBy(Math.min(2, Math.max(0.5, factor)), view.from + (other.x - MARGIN.left) / view.spacing);
      } else view.zoomTo(view.from - (now.x - before.x) / view.spacing, view.to - (now.x - before.x) / view.spacing);
      down.set(event.pointerId, now);
      return undefined;
    });
    stage.addEventListener("pointerup", (event) => {
      if (down.delete(event.pointerId) && !moved) this.select(this.nodeAt(event), false);
    });
    stage.addEventListener("pointercancel", (event) => down.delete(event.pointerId));
  }

  point(node, at = null) {
    const { view } = this, tip = this.part("tip");
    if (node !== view.hovered) {
      view.hovered = node;
      view.drawCursor();
    }
    tip.hidden = node < 0 || !at;
    if (tip.hidden) return;
    tip.replaceChildren();
    htmlElement("strong", {}, this.title(node), tip);
    htmlElement("span", {}, this.facts(node), tip);
    this.pictures(tip, pointsOf(this.model, node).slice(0, node < this.model.n ? 1 : 6));
    const most = this.stage.clientWidth - tip.offsetWidth - 4;
    tip.style.left = `${Math.max(4, Math.min(at.x + 14, most))}px`;
    tip.style.top = `${at.y > 150 ? at.y - tip.offsetHeight - 12 : at.y + 18}px`;
  }

  title(node) {
    const { model } = this;
    if (node < model.n) return this.view.leafName(node);
    const kind = kindOf(model, node, this.view.k);
    const names = { wrong: "Wrong merge", mixed: "Mixed merge", parted: "Parted cluster", plain: "Merge" };
    return names[kind];
  }

  facts(node) {
    const { model } = this, size = sizeOf(model, node), words = [];
    if (node >= model.n) words.push(`height ${showNumber(heightOf(model, node))}`);
    words.push(size === 1 ? "1 point" : `${size} points`);
    if (isKnown(model, node)) {
      const [code] = [...model.counts[node]].sort((a, b) => b[1] - a[1])[0];
      const name = model.block.clusters[code];
      if (size > 1) words.push(`purity ${(100 * purityOf(model, node)).toFixed(0)} %`);
      words.push(isPure(model, node) ? `cluster ${name}` : `${model.counts[node].size} clusters, mostly ${name}`);
    }
    return words.join(", ");
  }

  select(node, reveal = true) {
    const { view } = this, box = this.part("details");
    view.selected = node;
    if (reveal && node >= 0) view.reveal(node);
    else view.drawCursor();
    box.replaceChildren();
    if (node < 0) {
      htmlElement("p", { class: "note" }, "No node is selected. Click one, or press an arrow key in the tree.", box);
      return;
    }
    htmlElement("h4", {}, this.title(node), box);
    htmlElement("p", {}, `${this.facts(node)}.`, box);
    const { model } = this, sides = node < model.n ? [node] : model.tree.children[node - model.n];
    const columns = htmlElement("div", { class: "sides" }, "", box);
    sides.forEach((side, i) => this.side(columns, side, node < model.n ? "" : ["Left", "Right"][i]));
  }

  side(parent, node, name) {
    const { model } = this, { block } = model, points = pointsOf(model, node);
    const box = htmlElement("div", { class: "side" }, "", parent);
    if (name) htmlElement("h5", {}, `${name}: ${this.facts(node)}`, box);
    if (model.tree.labelled) {
      const list = htmlElement("ul", { class: "legend" }, "", box);
      const counts = [...model.counts[node]].sort((a, b) => b[1] - a[1]);
      counts.slice(0, 8).forEach(([code, number]) => this.cluster(list, code, `${block.clusters[code]}: ${number}`));
      if (counts.length > 8) htmlElement("li", {}, `and ${counts.length - 8} more`, list);
    }
    const shown = points.slice(0, MOST_SHOWN);
    if (block.pictures) this.pictures(box, shown);
    else htmlElement("p", { class: "names" }, shown.map((point) => block.ids[point]).join(", "), box);
    if (points.length > shown.length) htmlElement("p", { class: "note" }, `and ${points.length - shown.length} more`, box);
  }

  pictures(parent, points) {
    const { block } = this.model;
    if (!block.pictures) return;
    const box = htmlElement("div", { class: "faces" }, "", parent);
    for (const point of points) {
      const name = `${block.ids[point]}${block.labels[point] >= 0 ? `, ${block.clusters[block.labels[point]]}` : ""}`;
      htmlElement("img", { src: block.pictures[point], alt: name, title: name, width: 46, height: 56 }, "", box);
    }
  }

  cluster(list, code, words) {
    const item = htmlElement("li", {}, "", list);
    const marker = svgElement("svg", { class: `marker ${colourOf(code)}`, viewBox: "-7 -7 14 14", "aria-hidden": "true" }, item);
    svgElement("use", { href: shapeOf(code) }, marker);
    item.append(words);
  }

  listClusters() {
    const list = this.part("clusters"), { model } = this;
    list.replaceChildren();
    if (!model.tree.labelled) return;
    const counts = [...model.counts[model.root]].sort((a, b) => a[0] - b[0]);
    counts.slice(0, 40).forEach(([code, number]) => this.cluster(list, code, `${model.block.clusters[code]} (${number})`));
    if (counts.length > 40) htmlElement("li", {}, `and ${counts.length - 40} more`, list);
    const unknown = model.block.labels.filter((code) => code < 0).length;
    if (unknown) this.cluster(list, -1, `not known (${unknown})`);
  }
}
