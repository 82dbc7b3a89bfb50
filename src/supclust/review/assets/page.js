"use strict";
// Everything that comes from records is put into the page as text, never as markup.

const KEYS = { y: "yes", n: "no", "?": "unsure", u: "undo" };
const MOST_COLUMNS = 10;
const SVG = "http://www.w3.org/2000/svg";
let current = null;
let busy = false;

const byId = (id) => document.getElementById(id);

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function signed(value) {
  return (value > 0 ? "+" : value < 0 ? "\u2212" : "") + Math.abs(value).toFixed(2);
}

function showGroup(side, question) {
  const records = question[side];
  const size = question.sizes[side === "left" ? 0 : 1];
  const more = size > records.length ? ` (${records.length} shown)` : "";
  byId(`${side}-title`).textContent = `${size} record${size === 1 ? "" : "s"}${more}`;
  const head = element("tr");
  head.append(element("th"), ...records.map((one) => element("th", one.id)));
  const rows = question.columns.map((column, k) => {
    const row = element("tr");
    row.append(element("th", column));
    for (const one of records) {
      const value = one.values[k];
      row.append(element("td", value.text, value.differs ? "differs" : ""));
    }
    return row;
  });
  byId(side).replaceChildren(head, ...rows);
}

function bar(part, largest) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "-100 0 200 10");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const width = (98 * Math.abs(part)) / largest;
  const rect = document.createElementNS(SVG, "rect");
  for (const [name, value] of Object.entries({ x: part < 0 ? -width : 0, y: 1, width, height: 8 })) {
    rect.setAttribute(name, value);
  }
  rect.setAttribute("class", part < 0 ? "near" : "far");
  const zero = document.createElementNS(SVG, "line");
  for (const [name, value] of Object.entries({ x1: 0, x2: 0, y1: 0, y2: 10 })) zero.setAttribute(name, value);
  zero.setAttribute("class", "zero");
  svg.append(rect, zero);
  return svg;
}

function showWaterfall(waterfall) {
  const columns = Object.entries(waterfall.columns);
  const rows = columns.slice(0, MOST_COLUMNS);
  const rest = columns.slice(MOST_COLUMNS);
  if (rest.length) rows.push([`${rest.length} other columns`, rest.reduce((sum, one) => sum + one[1], 0)]);
  rows.push(["always", waterfall.always]);
  if (waterfall.not_given) rows.push(["pairs not compared or not close", waterfall.not_given]);
  const largest = Math.max(...rows.map((one) => Math.abs(one[1])), Math.abs(waterfall.height), 1e-9);
  const made = [...rows, ["height", waterfall.height]].map(([name, part], k) => {
    const row = element("tr", undefined, k === rows.length ? "sum" : "");
    const cell = element("td");
    cell.append(bar(part, largest));
    row.append(element("td", name), element("td", signed(part), "number"), cell);
    return row;
  });
  byId("waterfall").replaceChildren(...made);
}

function show(state) {
  current = state.question;
  const { yes, no, unsure } = state.answered;
  byId("progress").textContent =
    `${yes + no + unsure} answered: ${yes} yes, ${no} no, ${unsure} unsure. ` +
    `${state.records} records, version ${state.version} of the store.`;
  byId("notice").textContent = state.notice || "";
  byId("notice").hidden = !state.notice;
  byId("question").hidden = !current;
  byId("done").hidden = Boolean(current);
  for (const id of ["yes", "no", "unsure"]) byId(id).disabled = !current;
  document.body.dataset.key = current ? current.key : "";
  document.body.dataset.answered = yes + no + unsure;
  if (!current) return;
  const now = current.together ? "together" : "apart";
  byId("facts").textContent =
    `Now ${now}: height ${signed(current.height)}, cut ${signed(current.threshold)}.`;
  showGroup("left", current);
  showGroup("right", current);
  showWaterfall(current.waterfall);
  window.scrollTo(0, 0);
}

async function ask(path, body) {
  if (busy) return;
  busy = true;
  document.body.dataset.busy = "1";
  try {
    const options = body && {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    };
    const response = await fetch(path, options);
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error);
    show(answer);
  } catch (problem) {
    byId("notice").textContent = `${problem.message || problem}. Is supclust review still running?`;
    byId("notice").hidden = false;
  } finally {
    busy = false;
    delete document.body.dataset.busy;
  }
}

function act(action) {
  if (action === "undo") ask("undo", {});
  else if (current) ask("answer", { question: current.key, answer: action });
}

for (const action of Object.values(KEYS)) byId(action).addEventListener("click", () => act(action));
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const action = KEYS[event.key.toLowerCase()];
  if (action) {
    event.preventDefault();
    act(action);
  }
});
ask("state");
