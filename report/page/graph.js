/* A cycle as a graph: transactions as cards on a ring of two columns, which needs no layout program, keeps neighbours together and text readable however long it is; in a narrow window one below the other, with a way
 * back beside them. Edges in the colour of their kind; an edge is a button that unfolds its reason. */

const CARD = {width: 220, line: 17, most: 6, side: 28, letter: 7.4, widest: 480, back: 40}; // most: lines; side: blank on both sides of a text; back: for a way back

class Graph {
	/* edges: of the cycle; options: {room: in pixels, supposed (edge) -> is it only supposed, open (index) -> is its reason shown, toggle(index), pick(txn)} */
	constructor(trace, verdict, edges, options) {
		Object.assign(this, {trace, edges, options});
		this.cast = new Map((verdict.cast ?? []).map((one) => [one.txn, one]));
		this.wrong = verdict.operation;
		const txns = edges.length > 0 ? edges.flatMap((edge) => [edge.from, edge.to]) : (verdict.cast ?? []).map((one) => one.txn);
		this.cards = [...new Set(txns)].map((txn) => this.card(txn));
		this.across = edges.length === 0 ? 48 : this.cards.length > 2 ? 160 : 190;
		this.upright = this.cards.length >= 2 && NARROW.matches;
		this.widen();
		this.place();
	}

	card(txn) {
		const cast = this.cast.get(txn), lines = [];
		let next = 0;
		for (const {op, text} of (cast?.shown ?? []).slice(0, CARD.most)) {
			if (op > next)
				lines.push({text: "\u2026", faint: true});
			lines.push({text, wrong: this.wrong && this.wrong.txn === txn && this.wrong.op === op});
			next = op + 1;
		}
		if (cast && next < cast.ops)
			lines.push({text: next > 0 ? "\u2026" : count(cast.ops, "operation"), faint: true});
		return {txn, lines, width: CARD.width, height: 52 + lines.length * CARD.line};
	}

	/* For what the cards say, as far as there is room. */
	widen() {
		const pair = this.cards.length > 1 && !this.upright, free = this.options.room - 48 - (pair ? this.across : this.upright ? CARD.back : 0);
		const longest = Math.max(0, ...this.cards.flatMap((card) => card.lines.map((line) => line.text.length)));
		this.width = Math.max(CARD.width, Math.min(CARD.widest, pair ? free / 2 : free, CARD.side + longest * CARD.letter));
		for (const card of this.cards)
			card.width = this.width;
	}

	place() {
		const n = this.cards.length;
		if (this.upright) {
			this.pile();
			return;
		}
		const flat = n <= 2 || this.edges.length === 0, left = flat ? n : Math.ceil(n / 2);
		const tall = Math.max(0, ...this.cards.map((card) => card.height)), across = this.width + this.across, down = tall + 64;
		this.cards.forEach((card, i) => {
			if (flat && n <= 2) {
				card.x = (i - (n - 1) / 2) * across;
				card.y = 0;
				return;
			}
			const column = flat ? i % 2 : Number(i >= left), row = flat ? Math.floor(i / 2) : i < left ? i : n - 1 - i + (2 * left - n) / 2;
			card.x = (column - 0.5) * across;
			card.y = row * down;
		});
		const rows = flat ? Math.ceil(n / 2) : left, wide = (Math.min(n, 2) - 1) * across + this.width;
		const margin = flat && this.edges.length > 0 ? Math.max(16, 76 - tall / 2) : 16;
		this.box = {x: -wide / 2 - 24, y: -tall / 2 - margin, width: wide + 48, height: (rows - 1) * down + tall + 2 * margin};
	}

	/* One card below the other. */
	pile() {
		const back = this.edges.length > 2 ? CARD.back : 0, apart = this.edges.length > 0 ? 64 : 16;
		let bottom = 0;
		for (const card of this.cards) {
			card.x = 0;
			card.y = bottom + card.height / 2;
			bottom += card.height + apart;
		}
		this.box = {x: -this.width / 2 - 8, y: -8, width: this.width + 16 + back, height: bottom - apart + 16 + back};
	}

	/* Where the line from a's middle to b's leaves a's card, `gap` away from it. */
	static border(a, b, gap) {
		const dx = b.x - a.x, dy = b.y - a.y;
		const scale = Math.min((a.width / 2 + gap) / Math.abs(dx || 1e-9), (a.height / 2 + gap) / Math.abs(dy || 1e-9));
		return {x: a.x + dx * scale, y: a.y + dy * scale};
	}

	/* {d, x, y}: the path and its middle */
	route(a, b) {
		if (this.cards.length === 2) {
			const side = a.x < b.x ? 1 : -1, up = -side;
			if (this.upright) {
				const right = a.y < b.y ? 1 : -1, x = right * (a.width / 2 - 36), start = a.y + right * a.height / 2, end = b.y - right * (b.height / 2 + 7);
				return {d: `M${x} ${start}L${x} ${end}`, x, y: (start + end) / 2};
			}
			const from = {x: a.x + side * a.width / 2, y: a.y + up * 14}, to = {x: b.x - side * (b.width / 2 + 7), y: b.y + up * 14};
			const middle = (from.x + to.x) / 2, bend = up * 44;
			return {d: `M${from.x} ${from.y}C${from.x + side * 60} ${from.y + bend} ${to.x - side * 60} ${to.y + bend} ${to.x} ${to.y}`,
				x: middle, y: from.y + bend * 0.75};
		}
		if (this.upright && b.y < a.y) {
			const bottom = a.y + a.height / 2, low = bottom + CARD.back - 12, lane = this.width / 2 + CARD.back - 12, r = 10, half = lane / 2;
			return {d: `M0 ${bottom}V${low - r}Q0 ${low} ${r} ${low}H${lane - r}Q${lane} ${low} ${lane} ${low - r}V${b.y + r}Q${lane} ${b.y} ${lane - r} ${b.y}H${b.width / 2 + 7}`, x: half, y: low};
		}
		const from = Graph.border(a, b, 0), to = Graph.border(b, a, 7);
		return {d: `M${from.x} ${from.y}L${to.x} ${to.y}`, x: (from.x + to.x) / 2, y: (from.y + to.y) / 2};
	}

	drawCard(card) {
		const {txn, lines, width, height} = card, trace = this.trace, left = -width / 2 + 14;
		const y = (i) => -height / 2 + 56 + i * CARD.line;
		return svg("g", {class: `card ${STATUS[trace.status[txn]].split(" ").at(-1)}`, transform: `translate(${card.x} ${card.y})`, "data-txn": txn,
			"aria-label": `transaction ${trace.ids[txn]}, ${trace.sessionName(txn)}, ${STATUS[trace.status[txn]]}; show it in the timeline`,
			...pressable(() => this.options.pick(txn))},
		svg("title", {}, `${trace.ids[txn]}, ${trace.sessionName(txn)}, ${STATUS[trace.status[txn]]}, ${trace.place(txn)}`),
		svg("rect", {x: -width / 2, y: -height / 2, width, height, rx: 10}),
		svg("text", {class: "id", x: left, y: -height / 2 + 22}, clip(trace.ids[txn], 24)),
		svg("text", {class: "place", x: left, y: -height / 2 + 38},
			clip(`${trace.sessionName(txn)}${trace.line[txn] > 0 ? `, line ${trace.line[txn]}` : ""}${trace.status[txn] === "c" ? "" : `, ${STATUS[trace.status[txn]]}`}`, 32)),
		lines.map((line, i) => svg("text", {class: `op${line.faint ? " faint" : ""}${line.wrong ? " wrong" : ""}`, x: left, y: y(i)}, svg("title", {}, line.text), clip(line.text, Math.floor((width - CARD.side) / CARD.letter)))));
	}

	drawEdge(edge, i) {
		const byTxn = new Map(this.cards.map((card) => [card.txn, card]));
		const route = this.route(byTxn.get(edge.from), byTxn.get(edge.to)), ids = this.trace.ids;
		const name = clip(edgeName(edge), 18), width = 16 + name.length * 7.3, open = this.options.open(i);
		return svg("g", {class: `edge ${edge.kind}${this.options.supposed(edge) ? " supposed" : ""}${open ? " chosen" : ""}`, "data-edge": i,
			"aria-expanded": this.options.turns ? String(open) : null, "aria-label": `edge ${i + 1} of ${this.edges.length}, from ${ids[edge.from]} to ${ids[edge.to]}, ${KINDS[edge.kind].name}${
				edge.key === undefined ? "" : ` on ${edge.key}`}: its reason`, ...pressable(() => this.options.toggle(i))},
		svg("title", {}, edge.why),
		svg("path", {class: "reach", d: route.d}),
		svg("path", {class: "line", d: route.d, "marker-end": `url(#arrow-${edge.kind})`}),
		svg("rect", {x: route.x - width / 2, y: route.y - 12, width, height: 24, rx: 12}),
		svg("text", {x: route.x, y: route.y, dy: "0.35em", "text-anchor": "middle"}, name));
	}

	draw() {
		const arrows = Object.keys(KINDS).map((kind) => svg("marker", {id: `arrow-${kind}`, class: `arrow ${kind}`, viewBox: "0 0 10 10", refX: 5, refY: 5,
			markerUnits: "userSpaceOnUse", markerWidth: 13, markerHeight: 13, orient: "auto-start-reverse"}, svg("path", {d: "M0 0L10 5L0 10z"})));
		const {x, y, width, height} = this.box;
		return svg("svg", {class: `cycle${this.upright ? " upright" : this.cards.length === 1 ? " alone" : ""}`, viewBox: `${x} ${y} ${width} ${height}`, width, height, role: "group", "aria-label": this.describe()},
			svg("defs", {}, arrows), this.edges.map((edge, i) => this.drawEdge(edge, i)), this.cards.map((card) => this.drawCard(card)));
	}

	describe() {
		const ids = this.trace.ids;
		if (this.edges.length === 0)
			return `Transactions that matter: ${this.cards.map((card) => ids[card.txn]).join(", ")}`;
		return `A cycle of ${count(this.edges.length, "edge")}: ${this.edges.map((edge) => `${ids[edge.from]} comes before ${ids[edge.to]} (${edgeName(edge)})`).join(", ")}`;
	}
}

const edgeName = (edge) => `${edge.predicate ? "p" : ""}${edge.kind}${edge.key === undefined ? "" : ` ${edge.key}`}`;
