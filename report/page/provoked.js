/* The page of `krait-lab provoke --html`: which anomalies a database lets through, as a table of cases and levels; behind each cell the schedule that was meant, what was executed with its times, its pairs as a
 * graph, the serial orders that were tried, and the statements. */

const MEANINGS = {
	P: "serial", A: "anomaly", R: "refused", D: "deadlock", T: "timeout", B: "busy", E: "unexpected error", X: "the store crashed", "-": "left out",
};
const CLASSES = {RAT: "Reads meet what is not committed", WAT: "Writes meet what is not committed", IAT: "Only what is committed meets", null: "Consistent"};
const SAID = {
	P: "All answers and the final state are those of a serial order.", A: "No serial order of the committed transactions gives these answers and this final state.",
	R: "The database refused a transaction.", D: "The database ended a transaction over a deadlock.", T: "A statement did not come back in time.", B: "A transaction that waited gave up, since nobody else would have gone on.",
	E: "The database answered with an error that is not expected, or the connection was lost.", X: "The store crashed in this case.", "-": "The driver lacks an operation of this case.",
};

const cells = [...document.querySelectorAll('script[data-krait="cell"]')].map((element) => JSON.parse(element.textContent));
const levels = [...new Set(cells.map((cell) => cell.level))], cases = [...new Set(cells.map((cell) => cell.case))];
const cellAt = new Map(cells.map((cell) => [`${cell.level}\n${cell.case}`, cell]));
const of = (level, name) => cellAt.get(`${level}\n${name}`);
const titleOf = (cell) => cell.title || cell.name || "no anomaly";
const isAnomaly = (cell) => cell.letter[0] === "A" || cell.letter.endsWith("*");

/* ---- answers ---- */

const valueText = (value) => (value === null ? "nothing" : String(value));
const isRead = (op) => "RL".includes(op[0]);

/* An operation with what was answered. */
function answered(step) {
	if (!step.sent)
		return `${step.op} (not sent)`;
	if (step.answer !== "ok")
		return `${step.op}: ${step.answer}`;
	if (isRead(step.op))
		return `${step.op} = ${valueText(step.seen[0])}`;
	return step.op[0] === "Q" ? `${step.op} = ${step.seen.map(valueText).join(", ")}` : step.op;
}

const statementOf = (step) => step.statement || {C: "COMMIT", A: "ROLLBACK"}[step.op[0]] || step.op;
const milliseconds = (ns) => (ns / 1e6).toFixed(2);

/* ---- the table ---- */

class Table {
	constructor(pick) {
		this.pick = pick;
		this.buttons = new Map();
		const head = html("tr", {}, html("th", {scope: "col"}, "case"), levels.map((level) => html("th", {scope: "col"}, level)));
		this.element = html("div", {class: "scroll"}, html("table", {class: "cells"}, html("thead", {}, head), Object.keys(CLASSES).map((name) => this.group(name))));
	}

	group(name) {
		const rows = cases.filter((one) => String(cells.find((cell) => cell.case === one).class) === name);
		if (rows.length === 0)
			return null;
		const title = name === "null" ? CLASSES.null : `${name}: ${CLASSES[name]}`;
		return html("tbody", {}, html("tr", {}, html("th", {class: "group", colspan: levels.length + 1, scope: "rowgroup"}, title)), rows.map((one) => this.row(one)));
	}

	row(name) {
		const first = cells.find((cell) => cell.case === name);
		return html("tr", {}, html("th", {scope: "row"}, html("span", {class: "id"}, name), ` ${titleOf(first)}`), levels.map((level) => html("td", {}, this.button(of(level, name)))));
	}

	button(cell) {
		if (!cell)
			return null;
		const meaning = `${MEANINGS[cell.letter[0]]}${cell.letter.endsWith("*") ? ", and no serial order of the others" : cell.letter.endsWith("w") ? ", with a dirty write that nobody saw" : ""}`;
		const label = `${cell.case} ${titleOf(cell)} at ${cell.level}: ${meaning}${cell.expected ? `, expected ${cell.expected}` : ""}`;
		const css = `cell letter-${cell.letter[0] === "-" ? "none" : cell.letter[0]}${cell.expected ? " differs" : ""}`;
		const button = html("button", {class: css, title: label, "aria-label": label, onclick: () => this.pick(cell)}, cell.letter);
		this.buttons.set(cell, button);
		return button;
	}

	mark(cell) {
		for (const [one, button] of this.buttons)
			button.toggleAttribute("data-picked", one === cell);
	}
}

/* Of each level in words: what it lets through. */
function drawSummary(pick) {
	return html("ul", {class: "allows"}, levels.map((level) => {
		const found = cells.filter((cell) => cell.level === level && isAnomaly(cell));
		const links = found.flatMap((cell, i) => [i > 0 ? ", " : "", html("a", {href: `#${encodeURIComponent(`${cell.case}@${cell.level}`)}`, onclick: () => pick(cell)}, `${cell.case} ${titleOf(cell)}`)]);
		return html("li", {}, html("strong", {}, level), found.length > 0 ? " lets through: " : " lets none of these through", links, ".");
	}));
}

/* ---- a cell ---- */

/* The schedule as it was meant: a row for each transaction, a column for each operation. */
function drawIntended(cell) {
	const ops = cell.steps.map((step) => step.op), txns = [...new Set(cell.steps.map((step) => step.txn))].sort();
	return html("div", {class: "scroll"}, html("table", {class: "schedule"}, txns.map((txn) => html("tr", {}, html("th", {scope: "row"}, `T${txn}`),
		ops.map((op, i) => html("td", {}, cell.steps[i].txn === txn ? html("span", {class: `op kind-${op[0]}`}, op) : null))))));
}

/* What was executed, with the times. */
function drawExecuted(cell) {
	const zero = (ns) => String(Math.max(0, Math.round(ns / 1000)));
	const lanes = cell.transactions.map(({txn, outcome}) => ({
		id: `T${txn}`, name: `T${txn}`, status: outcome === "open" ? "u" : outcome[0], line: 0, spans: [],
		statements: cell.steps.filter((step) => step.txn === txn && step.sent).map((step) => ({
			text: `${answered(step)}${step.blocked ? " (waited)" : ""}`, from: zero(step.at[0]), to: zero(step.at[1]), blocked: step.blocked, named: step.answer !== "ok",
		})),
	}));
	return new Lanes({time_unit: "\u00b5s", skew: 0}, {lanes, windows: [], gaps: [], why: `What was executed: ${cell.executed}`}).element;
}

/* The pairs as a graph: transactions on a ring, an arc for each pair; those of the cycle stand out, and pairs that do not tell that their first transaction was still open are dashed. */
class Pairs {
	constructor(cell) {
		this.cell = cell;
		const txns = cell.transactions.map(({txn}) => txn), radius = txns.length > 2 ? 110 : 120;
		this.at = new Map(txns.map((txn, i) => {
			const turn = (2 * Math.PI * i) / txns.length + Math.PI;
			return [txn, {x: radius * Math.cos(turn) * 1.4, y: radius * Math.sin(turn) * (txns.length > 2 ? 1 : 0)}];
		}));
		const most = Math.max(...[...this.at.keys()].map((a) => this.cell.pops.filter((pop) => pop.from === a).length), 0), tall = txns.length > 2 ? 160 : 50 + 20 * Math.min(most, 4);
		const box = `-250 ${-tall} 500 ${2 * tall}`;
		this.element = html("div", {class: "pairs"}, svg("svg", {viewBox: box, role: "img", "aria-label": this.describe()}, this.heads(), this.arcs(), [...this.at].map(([txn, {x, y}]) => this.node(txn, x, y))));
	}

	heads() {
		return svg("defs", {}, ["lit", "dim"].map((id) => svg("marker", {id: `head-${id}`, class: id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto"}, svg("path", {d: "M0 0L8 4L0 8z"}))));
	}

	arcs() {
		const seen = new Map(), shown = new Set();
		const ordered = this.cell.pops.map((pop, i) => ({...pop, lit: this.cell.cycle.includes(i)})).sort((a, b) => b.lit - a.lit);
		return ordered.map((pop) => {
			const key = `${pop.from}-${pop.to}`, text = `${pop.kind} ${pop.object}`;
			if (shown.has(`${key} ${text}`) && !pop.lit)
				return null;
			shown.add(`${key} ${text}`);
			const nth = seen.get(key) ?? 0;
			seen.set(key, nth + 1);
			return this.arc(pop, text, 26 + 30 * nth);
		});
	}

	arc(pop, text, bend) {
		const a = this.at.get(pop.from), b = this.at.get(pop.to), dx = b.x - a.x, dy = b.y - a.y, long = Math.hypot(dx, dy) || 1;
		const nx = -dy / long, ny = dx / long, gap = 26, mx = (a.x + b.x) / 2 + nx * bend * 1.6, my = (a.y + b.y) / 2 + ny * bend * 1.6;
		const from = Pairs.toward(a, {x: mx, y: my}, gap), to = Pairs.toward(b, {x: mx, y: my}, gap + 3);
		const css = `pair ${pop.kind.slice(0, 2)} ${pop.lit ? "lit" : "dim"}${/C|A/.test(pop.kind) ? " ended" : ""}`;
		return svg("g", {class: css}, svg("path", {d: `M${from.x} ${from.y}Q${mx} ${my} ${to.x} ${to.y}`, "marker-end": `url(#head-${pop.lit ? "lit" : "dim"})`}),
			svg("text", {x: (a.x + b.x) / 4 + mx / 2, y: (a.y + b.y) / 4 + my / 2 + 4, "text-anchor": "middle"}, text));
	}

	static toward(a, b, by) {
		const long = Math.hypot(b.x - a.x, b.y - a.y) || 1;
		return {x: a.x + ((b.x - a.x) * by) / long, y: a.y + ((b.y - a.y) * by) / long};
	}

	node(txn, x, y) {
		const {outcome} = this.cell.transactions.find((one) => one.txn === txn);
		return svg("g", {class: `node ${outcome}`}, svg("circle", {cx: x, cy: y, r: 22}), svg("text", {x, y: y + 5, "text-anchor": "middle"}, `T${txn}`), svg("title", {}, `T${txn}: ${outcome}`));
	}

	describe() {
		return this.cell.pops.map((pop) => `${pop.kind} of ${pop.object} from T${pop.from} to T${pop.to}`).join("; ") || "no pairs";
	}
}

/* Why a pair goes that way. */
function pairText(cell, pop) {
	const p = answered(cell.steps[pop.p]), q = answered(cell.steps[pop.q]);
	const end = {RA: ", which was undone later", WA: ", which was undone later", WC: " before that was committed"}[pop.kind];
	if (end)
		return `${q} ${pop.kind === "RA" ? "saw" : "overwrote"} ${p}${end}`;
	return {R: `${p} saw an older version than that of ${q}`, W: pop.kind.endsWith("R") ? `${q} saw ${p}, or what came later` : `${q} overwrote ${p}`}[pop.kind[0]];
}

/* The cycle in words. */
function drawCycle(cell) {
	if (!cell.pop)
		return html("p", {}, "These pairs have no cycle.");
	const name = cell.found.number ? `${cell.found.number} ${cell.found.name} (${cell.found.class}, ${cell.found.size})` : "a cycle without a name";
	return [html("p", {}, "What was executed is ", html("strong", {}, name), ":"),
		html("ol", {class: "cycle"}, cell.pop.map((pop) => html("li", {}, `T${pop.from} before T${pop.to} (${pop.kind} of ${pop.object}): ${pairText(cell, pop)}`)))];
}

function drawOrders(cell) {
	if (cell.orders.length === 0)
		return html("p", {}, "None was tried.");
	const more = cell.orders_tried - cell.orders.length;
	return [html("ol", {class: "orders"}, cell.orders.map(({order, difference}) => html("li", {class: difference ? "fails" : "fits"},
		html("span", {class: "op"}, order.length > 0 ? order.map((txn) => `T${txn}`).join(" then ") : "nobody committed"), ": ", difference || "gives all answers and the final state"))),
	more > 0 ? html("p", {}, `and ${count(more, "other order")}`) : null];
}

/* What was sent, in the order of time: a column for each transaction, as one would type it. */
function drawStatements(cell) {
	const txns = cell.transactions.map(({txn}) => txn), sent = cell.steps.filter((step) => step.sent).sort((a, b) => a.at[0] - b.at[0]);
	const said = (step) => (step.answer !== "ok" ? `${step.answer}${step.message ? `: ${step.message}` : ""}` : isRead(step.op) || step.op[0] === "Q" ? step.seen.slice(0, isRead(step.op) ? 1 : 2).map(valueText).join(", ") : "");
	return html("div", {class: "scroll"}, html("table", {class: "statements"},
		html("thead", {}, html("tr", {}, html("th", {scope: "col"}, "sent, ms"), html("th", {scope: "col"}, "answered"), txns.map((txn) => html("th", {scope: "col"}, `T${txn}`)))),
		html("tbody", {}, sent.map((step) => html("tr", {}, html("td", {class: "time"}, milliseconds(step.at[0])), html("td", {class: "time"}, `${milliseconds(step.at[1])}${step.blocked ? ", waited" : ""}`),
			txns.map((txn) => html("td", {}, txn !== step.txn ? null : [html("code", {}, statementOf(step)), said(step) ? html("span", {class: step.answer === "ok" ? "answer" : "answer wrong"}, ` \u2192 ${said(step)}`) : null])))))));
}

const values = (map) => Object.entries(map).map(([object, value]) => `${object} = ${valueText(value)}`).join(", ");

/* What was there before, by the names that statements use. */
function drawInitial(cell) {
	const initial = cell.trace_text ? JSON.parse(cell.trace_text.split("\n")[0]).initial : null;
	return initial ? html("p", {class: "definition"}, "At first: ", html("span", {class: "op"}, Object.keys(initial).length > 0 ? values(initial) : "no rows"), "; other keys had no row.") : null;
}

/* The notation, once for all cases. */
function drawNotation() {
	const rows = [
		["R1x, L1x", "transaction 1 reads x; reads it for update"], ["Q1a", "reads range a: x and u (b: y and v, c: z and w), whose keys in the table are x and xu"], ["U1a", "updates all rows of it"],
		["W1x5", "sets x to 5"], ["I1u5, D1x", "inserts u, deletes x"], ["C1, A1", "commits, rolls back"],
		["WR, RW, WW", "a pair: what the earlier and the later one did to an object, while the earlier transaction was open"], ["WCR, RCW, WCW", "the same after it had committed"],
		["RA, WA, WC", "what was seen or overwritten was undone later; was committed later"], ["SDA, DDA, MDA", "two transactions and one object; two and two; more"],
		["p27d", "a case of ranges: d deletes, i inserts, o changes what another one relied on; letters behind other cases are variants of one anomaly"],
	];
	return html("details", {}, html("summary", {}, "Notation"), html("dl", {class: "notation"}, rows.flatMap(([what, says]) => [html("dt", {class: "op"}, what), html("dd", {}, says)])));
}

const drawFinal = (cell) => html("p", {class: "op"}, values(cell.final));

function drawTrace(cell) {
	if (!cell.trace_text)
		return null;
	const file = cell.trace.split("/").at(-1);
	return html("p", {}, html("a", {download: file, href: `data:application/jsonl;charset=utf-8,${encodeURIComponent(cell.trace_text)}`}, `${file}`), ", for ", html("code", {}, "krait check"));
}

function drawCell(cell) {
	const hero = isAnomaly(cell) ? "violated" : "PRDB".includes(cell.letter[0]) ? "satisfied" : "unknown";
	const serial = cell.serial && cell.serial.length > 0 ? ` Serial order: ${cell.serial.map((txn) => `T${txn}`).join(" then ")}.` : "";
	const head = html("section", {class: `hero ${hero}`}, html("p", {class: "badge"}, `${cell.letters}: ${MEANINGS[cell.letter[0]]}`),
		html("h1", {}, `${cell.case} ${titleOf(cell)}`, html("span", {class: "anomaly"}, `at ${cell.level}`)),
		html("p", {class: "sentence"}, SAID[cell.letter[0]], cell.letter.endsWith("*") ? " No serial order explains the others." : cell.letter.endsWith("w") ? " A dirty write happened, which nobody saw." : serial),
		cell.expected ? html("p", {class: "sentence"}, `Expected was ${cell.expected}.`) : null, cell.unsteady ? html("p", {class: "definition"}, "Repetitions came out differently.") : null);
	if (cell.transactions.length === 0)
		return head;
	return [head, section("Statements", {class: "panel"}, drawInitial(cell), drawStatements(cell), cell.begins ? html("p", {class: "definition"}, "Each transaction begins just before its first statement, at: ", html("code", {}, cell.begins)) : null),
		html("div", {class: "two"}, section("Meant", {class: "panel"}, drawIntended(cell), cell.steps.some((step) => step.blocked) ? html("p", {class: "definition"}, "A statement that waits takes effect later than meant, and so do those behind it.") : null), section("In the end", {class: "panel"}, drawFinal(cell), drawTrace(cell))),
		section("Executed", {class: "panel"}, html("p", {class: "op"}, cell.executed), html("p", {class: "definition"}, "Times in \u00b5s since the first statement."), drawExecuted(cell)),
		html("div", {class: "two"}, section("Pairs", {class: "panel"}, drawCycle(cell), new Pairs(cell).element), section("Serial orders", {class: "panel"}, drawOrders(cell))),
		cell.explanation ? section("What krait check says", {class: "panel"}, html("pre", {}, cell.explanation)) : null];
}

/* ---- the page ---- */

function draw() {
	const wanted = decodeURIComponent(location.hash.slice(1)), first = cells[0], place = html("div", {class: "main", id: "cell"}), head = html("header", {}, html("span", {class: "brand"}, "krait"), html("span", {class: "trace"}, first ? `provoke: ${first.driver}` : "provoke"),
		html("ul", {class: "facts"}, [first?.database, count(cases.length, "case"), count(levels.length, "level")].filter(Boolean).map((fact) => html("li", {}, fact))));
	const pick = (cell) => {
		place.replaceChildren(...[drawCell(cell)].flat().filter(Boolean));
		table.mark(cell);
		history.replaceState(null, "", `#${encodeURIComponent(`${cell.case}@${cell.level}`)}`);
		announce(`${cell.case} at ${cell.level}: ${cell.executed}`);
	};
	const table = new Table((cell) => {
		pick(cell);
		if (place.getBoundingClientRect().top > window.innerHeight / 2 || place.getBoundingClientRect().top < 0)
			place.scrollIntoView({block: "start"});
	});
	const used = [...new Set(cells.map((cell) => cell.letter[0]))];
	const legend = html("ul", {class: "legend"}, used.map((letter) => html("li", {}, html("span", {class: `cell letter-${letter === "-" ? "none" : letter}`}, letter), ` ${MEANINGS[letter]}`)));
	document.title = `krait: ${first?.driver ?? "provoke"}`;
	document.getElementById("page").replaceChildren(head, html("main", {}, section("What it lets through", {class: "panel"}, drawSummary(pick)), html("div", {class: "beside"}, section("Cases and levels", {class: "panel cells-panel"}, table.element, legend, drawNotation()), place)), announcer);
	if (first)
		pick(cells.find((cell) => `${cell.case}@${cell.level}` === wanted) ?? cells.find(isAnomaly) ?? first);
}

draw();
