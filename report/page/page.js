/* The page: one trace and one verdict at a time, chosen in the header and in the lattice. */

/* What a single operation saw that it must not have, as an edge from the other transaction. */
function blameOf(verdict) {
	const wrong = verdict?.operation, other = (verdict?.cast ?? []).map((one) => one.txn).filter((t) => t !== wrong?.txn);
	return wrong?.key !== undefined && other.length === 1 ? [{from: other[0], to: wrong.txn, kind: "wr", key: wrong.key, predicate: false, why: verdict.sentence, under: []}] : [];
}

class Page {
	constructor(data) {
		this.data = data;
		this.root = document.getElementById("page");
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.timeline?.draw());
		NARROW.addEventListener("change", () => this.redraw());
		window.addEventListener("beforeprint", () => this.toPaper());
		window.addEventListener("afterprint", () => this.timeline?.fitTo(""));
		const first = data.traces.find((trace) => trace.violated) ?? data.traces[0];
		this.showTrace(first);
	}

	showTrace(trace) {
		const ranks = new Lattice(this.data.levels, [], null, null).byId, rank = (v) => ranks.get(v.level).rank;
		const best = (kind, sign) => (trace?.verdicts ?? []).filter((v) => v.verdict === kind).reduce((a, b) => (!a || sign * rank(b) > sign * rank(a) ? b : a), undefined);
		this.trace = trace;
		this.showVerdict(best("violated", 1) ?? best("satisfied", -1) ?? trace?.verdicts[0]); /* the weakest violated one says most, else the strongest satisfied one */
	}

	showVerdict(verdict) {
		const trace = this.trace;
		this.verdict = verdict;
		this.open = new Set();
		this.argument = verdict?.argument ? new Argument(trace, verdict.argument) : null;
		this.leaf = this.argument?.leaves[0];
		this.drawn = this.graphPlace = null;
		this.blame = blameOf(verdict);
		this.timeline = trace?.n > 0 ? new Timeline(trace, this.lit(), (t) => this.pick(t)) : null;
		document.title = trace ? `${verdict ? `${verdict.level} ${verdict.verdict}: ` : ""}${trace.trace} - krait` : "krait";
		this.root.replaceChildren(this.header(), html("main", {}, ...(verdict ? this.parts() : this.nothing())), announcer);
		this.drawCycle();
	}

	/* What is drawn otherwise in a narrow window. */
	redraw() {
		this.root.querySelector(".levels")?.replaceWith(this.lattice());
		this.drawCycle(true);
	}

	toPaper() {
		if (this.argument)
			this.unfold();
		this.timeline?.connect(this.edges, -1);
		this.timeline?.fitTo(PAPER);
	}

	lit() {
		const verdict = this.verdict, all = new Set((verdict?.cast ?? []).map((one) => one.txn));
		if (this.argument)
			for (const edge of this.argument.cycle(verdict.argument.last))
				all.add(edge.from);
		return [...all];
	}

	header() {
		const trace = this.trace;
		const facts = trace?.format ? [count(trace.n, "transaction"), count(trace.ops, "operation"), count(trace.sessions.length, "session"), count(trace.keys, "key"),
			trace.format, trace.skipped > 0 ? `${count(trace.skipped, "bad transaction")} left out` : null] : [];
		return drawHeader(this.data.traces, trace, facts, (one) => this.showTrace(one));
	}

	nothing() {
		return [drawNothing(this.trace)];
	}

	parts() {
		const verdict = this.verdict;
		const proof = verdict.verdict === "violated" ? html("div", {class: "proof"}, this.cyclePanel(), this.whyPanel())
			: verdict.order_found ? drawOrder(this.trace, verdict, (t) => this.pick(t)) : null;
		const parts = [html("div", {class: "first"}, html("div", {class: "main"}, this.hero(), proof), this.lattice())];
		if (this.timeline)
			parts.push(this.timelinePanel());
		parts.push(this.textPanel());
		return parts;
	}

	hero() {
		const verdict = this.verdict, level = this.data.levels.find((one) => one.id === verdict.level), shown = VERDICTS[verdict.verdict];
		const sentence = verdict.sentence ? `${verdict.sentence}.` : verdict.reason ? `Undecided: ${verdict.reason}.` : "The order below explains every read.";
		return html("section", {class: `hero ${verdict.verdict}`},
			drawBadge(shown),
			html("h1", {}, level.title[0].toUpperCase() + level.title.slice(1), verdict.anomaly ? html("span", {class: "anomaly"}, verdict.anomaly) : null),
			html("p", {class: "sentence"}, sentence),
			(verdict.notes ?? []).map((note) => html("p", {class: "note"}, `Note: ${note}`)),
			html("p", {class: "definition"}, html("code", {}, verdict.level), ` with ${ORDERS[verdict.order]}: ${level.definition}`));
	}

	lattice() {
		const asked = this.trace.verdicts, drawn = new Lattice(this.data.levels, asked, this.verdict, (v) => {
			const level = v.level;
			this.showVerdict(v);
			this.root.querySelector(`.lattice [data-level="${level}"]`)?.focus();
		}).draw();
		return section("Levels", {class: "panel levels"}, html("div", {class: "scroll"}, drawn),
			html("p", {class: "legend"}, [["satisfied", "satisfied"], ["violated", "violated"], ["unknown", "unknown"], ["light", "follows from what was asked"],
				["open", "blank: not asked, and nothing follows for it"]].map(([dot, text]) =>
				html("span", {class: "pair"}, html("span", {class: `dot ${dot}`}), ` ${text}`))));
	}

	cyclePanel() {
		const edges = this.argument ? Object.values(this.argument.data.cycles).flat() : this.blame, used = new Set(edges.map((edge) => edge.kind)), kinds = Object.keys(KINDS);
		kinds.sort((a, b) => used.has(b) - used.has(a));
		this.graphPlace = html("div", {class: "scroll graph"});
		return section(this.argument ? "The cycle" : this.verdict.operation ? "The operation" : "The transactions", {class: "panel"}, this.graphPlace,
			edges.length === 0 ? null : html("ul", {class: "legend"},
				kinds.map((kind) => html("li", {class: used.has(kind) ? null : "unused"}, html("span", {class: `chip ${kind}`}, kind), html("span", {}, KINDS[kind].says))),
				edges.some((edge) => edge.predicate) ? html("li", {}, html("code", {}, "p"), html("span", {}, "before it: by a range, scan or condition")) : null));
	}

	whyPanel() {
		this.whyPlace = html("div", {});
		return section("Why", {class: "panel why-panel"}, this.whyPlace);
	}

	/* ---- the cycle and its reasons ---- */

	get edges() {
		return this.argument ? this.argument.cycle(this.drawn?.cycle ?? this.leaf.cycle) : this.blame;
	}

	draw(cycle, supposed) {
		this.drawn = {cycle, supposed};
		this.open.clear();
		this.drawCycle(true);
		this.root.querySelector("#back")?.focus();
	}

	drawCycle(keepReasons) {
		if (!this.graphPlace || this.verdict.verdict !== "violated")
			return;
		this.graph = new Graph(this.trace, this.verdict, this.edges, {
			room: this.graphPlace.clientWidth,
			supposed: (edge) => this.drawn !== null && edge.under.includes(this.drawn.supposed),
			turns: this.argument !== null,
			open: (i) => !this.drawn && this.open.has(i),
			toggle: (i) => this.toggle(i, true),
			pick: (t) => this.pick(t),
		});
		const back = this.drawn ? html("p", {class: "note"}, "The dashed edge is the one that is ruled out. ",
			html("button", {type: "button", id: "back", class: "small", onclick: () => { this.drawn = null; this.drawCycle(true); }}, "Back to the cycle")) : null;
		this.graphPlace.replaceChildren(this.graph.cards.length > 0 ? this.graph.draw() : html("p", {class: "note"}, "No single transaction is to blame."), ...[back].filter(Boolean));
		if (!keepReasons)
			this.drawReasons();
		this.connect();
	}

	connect() {
		this.timeline?.connect(this.edges, this.drawn || this.open.size === 0 ? -1 : [...this.open].at(-1));
	}

	drawReasons() {
		if (!this.argument) {
			const lines = this.verdict.lines.split("\n").map((line) => line.trim().replace(/^- /, "")).filter(Boolean);
			this.whyPlace.replaceChildren(html("ol", {class: "reasons plain"}, lines.map((line) => html("li", {}, line))));
			return;
		}
		const all = this.argument.leaves;
		const cases = all.length < 2 ? null : html("div", {class: "cases", role: "group", "aria-label": "Cases, each of which ends in a cycle"}, all.map((leaf) =>
			html("button", {type: "button", "aria-pressed": String(leaf === this.leaf), onclick: () => { this.leaf = leaf; this.drawn = null; this.open.clear(); this.drawCycle();
				this.whyPlace.querySelector("[aria-pressed=true]")?.focus(); }}, `Case ${leaf.label}`)));
		const intro = all.length < 2
			? html("p", {}, `Each transaction below must come before the next one, and the last before the first. No order can do that.`)
			: html("p", {}, `One of ${all.length} cases must hold, and each ends in a cycle. Case ${this.leaf.label} supposes that ${this.leaf.supposed.map((l) => this.argument.data.literals[l].supposed).join(", and that ")}.`);
		const short = this.argument.data.cases.length === 0 && this.argument.data.total > 1
			? html("p", {class: "note"}, `The whole proof has ${number(this.argument.data.total)} cycles, of which each possible order has one; this is the last of them. "krait check --witness" has all.`) : null;
		const edges = this.edges;
		this.items = edges.map((edge, i) => this.item(edge, i));
		this.whyPlace.replaceChildren(...[cases, intro, short, html("ol", {class: "reasons"}, this.items),
			html("button", {type: "button", class: "small", onclick: () => this.unfold()}, "Unfold all")].filter(Boolean));
	}

	/* Every reason, and what unfolds in it, down to a bound. */
	unfold() {
		if (this.drawn) {
			this.drawn = null;
			this.drawCycle(true);
		}
		this.edges.forEach((_, i) => this.open.has(i) || this.toggle(i));
		for (let closed, left = 400; left > 0 && (closed = this.whyPlace.querySelectorAll("details:not([open])")).length > 0; )
			for (const one of closed) {
				one.open = true;
				one.dispatchEvent(new Event("toggle"));
				if (--left === 0)
					break;
			}
	}

	item(edge, i) {
		const ids = this.trace.ids, body = html("div", {class: "body", id: `reason-${i}`, hidden: true});
		const button = html("button", {type: "button", class: "fold", "aria-expanded": "false", "aria-controls": body.id, onclick: () => this.toggle(i)},
			html("span", {class: `chip ${edge.kind}`}, clip(edgeName(edge), 36)), html("span", {}, clip(ids[edge.from], 28), " \u2192 ", clip(ids[edge.to], 28)));
		return html("li", {"data-reason": i}, button, body);
	}

	/* Unfolds or folds the reason of an edge, in the list and in the graph. */
	toggle(i, fromGraph) {
		if (this.drawn || !this.argument) {
			announce(`${this.edges[i].why}.`);
			return;
		}
		const open = !this.open.delete(i), item = this.items[i], body = item.querySelector(".body");
		if (open)
			this.open.add(i);
		if (open && body.childElementCount === 0)
			body.append(...this.argument.basis(this.leaf, this.edges[i], (cycle, supposed) => this.draw(cycle, supposed)).filter(Boolean));
		body.hidden = !open;
		item.querySelector(".fold").setAttribute("aria-expanded", String(open));
		const edge = this.graphPlace.querySelector(`[data-edge="${i}"]`);
		edge.setAttribute("aria-expanded", String(open));
		edge.classList.toggle("chosen", open);
		this.connect();
		if (fromGraph && open) {
			item.scrollIntoView({block: "nearest"});
			announce(`${this.edges[i].why}.`);
		}
	}

	/* ---- timeline and text ---- */

	timelinePanel() {
		this.detail = html("div", {class: "detail", "aria-live": "polite"});
		const trace = this.trace, lit = this.timeline.lit;
		const table = lit.length === 0 ? null : unfolding("The transactions that matter, as a table", () => html("div", {class: "scroll"}, html("table", {},
			html("thead", {}, html("tr", {}, ["transaction", "session", "status", trace.timed ? "began" : null, trace.timed ? "ended" : null, "where"].filter(Boolean)
				.map((name) => html("th", {scope: "col"}, name)))),
			html("tbody", {}, lit.map((t) => html("tr", {}, html("th", {scope: "row"}, html("button", {type: "button", class: "link", onclick: () => this.pick(t)}, clip(trace.ids[t], 200))),
				html("td", {}, clip(trace.sessionName(t), 200)), html("td", {}, STATUS[trace.status[t]]), trace.timed ? html("td", {}, trace.time(trace.start[t])) : null,
				trace.timed ? html("td", {}, trace.length[t] < 0 ? "not known" : trace.time(trace.stop[t])) : null, html("td", {}, trace.place(t))))))));
		const bars = [["bar", "committed"], ["bar-aborted", "aborted"], ["bar-unknown", "outcome unknown"], ...(lit.length > 0 ? [["lit", "matters here"]] : [])];
		return section("Timeline", {class: "panel"}, new Search(trace, (t) => this.pick(t)).element, this.timeline.element,
			html("p", {class: "legend"}, bars.map(([name, says]) => html("span", {class: "pair"}, html("span", {class: `dot ${name}`}), ` ${says}`))), this.detail, table);
	}

	pick(t) {
		const trace = this.trace, ops = trace.operations(t), most = 200;
		if (!trace.texts)
			trace.load().then(() => trace.texts && this.timeline?.pinned === t && this.pick(t));
		const shown = new Set((this.verdict.cast ?? []).find((one) => one.txn === t)?.shown.map((one) => one.op));
		this.timeline.show(t);
		this.detail.replaceChildren(html("h3", {}, trace.ids[t]),
			html("p", {}, `${trace.sessionName(t)}, ${STATUS[trace.status[t]]}, ${trace.place(t)}${trace.timed
				? `, began at ${trace.time(trace.start[t])}${trace.length[t] < 0 ? "" : `, ended at ${trace.time(trace.stop[t])}`}` : ""}`),
			ops ? html("ol", {class: "ops", start: 0}, ops.slice(0, most).map((op, i) => html("li", {class: shown.has(i) ? "matters" : null}, op)))
				: html("p", {class: "note"}, "This page is without its operations: the trace has too many."),
			ops && ops.length > most ? html("p", {class: "note"}, `and ${number(ops.length - most)} more`) : "");
	}

	textPanel() {
		const verdict = this.verdict, assumed = verdict.assumed.split("\n").map((line) => line.trim()).filter(Boolean);
		return section("What this rests on", {class: "panel"}, html("dl", {class: "assumed"}, assumed.flatMap((line) => {
			const colon = line.indexOf(": ");
			return [html("dt", {}, line.slice(0, colon)), html("dd", {}, line.slice(colon + 2))];
		})), unfolding("The whole explanation as text", () => html("pre", {tabindex: 0}, verdict.explanation)));
	}
}

window.addEventListener("DOMContentLoaded", async () => {
	const data = await readData();
	document.documentElement.dataset.drawn = "";
	return data.traces.some((trace) => trace.profile) ? new FindingsPage(data) : new Page(data);
});
