/* Why the edges of a cycle hold. What an edge rests on beside the trace itself (which version was read, which of two came first, whether a transaction took effect) is a literal; a step of
 * the argument says why a literal holds: the opposite would close another cycle, or no other candidate is left. Each unfolds into what it rests on in turn. */

class Argument {
	constructor(trace, data) {
		Object.assign(this, {trace, data});
		this.leaves = data.cases.length > 0 ? this.findLeaves() : [{path: [], label: "", supposed: [], cycle: data.last}];
	}

	/* The cases that are not split further: with the cases on the way there, and what they suppose. */
	findLeaves() {
		const leaves = [], todo = [{at: 0, path: [], label: "", supposed: []}];
		while (todo.length > 0) {
			const {at, path, label, supposed} = todo.pop(), found = this.data.cases[at];
			const here = {path: [...path, found], label, supposed: found.assumed === undefined ? supposed : [...supposed, found.assumed]};
			if (found.children.length === 0)
				leaves.push({...here, cycle: found.cycle ?? this.lastCycle(here.path), refuted: found.cycle === undefined});
			for (let side = found.children.length - 1; side >= 0; side--)
				todo.push({at: found.children[side], ...here, label: found.children.length === 1 ? label : `${label}${label ? "." : ""}${side + 1}`});
		}
		return leaves;
	}

	/* A case may end with a step against an earlier one, instead of a cycle. */
	lastCycle(path) {
		const steps = path.flatMap((found) => found.steps);
		return steps.findLast((step) => step.because === "cycle")?.from ?? this.data.last;
	}

	cycle(c) {
		return this.data.cycles[c] ?? [];
	}

	said(literal) {
		return this.data.literals[literal]?.said ?? "";
	}

	/* The reason of a literal, as elements. `draw` shows a cycle in the graph. */
	reason(leaf, literal, draw) {
		const step = leaf.path.flatMap((found) => found.steps).find((one) => one.literal === literal);
		const line = (text) => html("p", {}, text);
		const nested = (other) => this.literal(leaf, other, draw);
		if (leaf.supposed.includes(literal))
			return [line("This is what the case supposes.")];
		switch (step?.because) {
		case "cycle":
			return this.otherwise(leaf, literal, step.from, draw);
		case "only": {
			const sight = this.data.sights[step.from], others = sight.not.filter((other) => other !== (literal ^ 1));
			return [line(`${sight.saw}${literal & 1 ? ", and nothing can have shown it that" : "; no other source is left"}${others.length > 0 ? ":" : "."}`),
				html("ul", {}, others.map((other) => html("li", {}, nested(other))))];
		}
		case "other":
			return [line("It saw another one:"), nested(2 * step.from)];
		case "seen":
			return [line("It was seen, or saw something:"), nested(2 * step.from)];
		case "no effect":
			return [nested(2 * step.from + 1)];
		default:
			return [line("The trace itself tells this.")];
		}
	}

	/* A literal that unfolds into its reason. */
	literal(leaf, literal, draw) {
		return unfolding(this.said(literal), () => this.reason(leaf, literal, draw));
	}

	otherwise(leaf, literal, c, draw) {
		const edges = this.cycle(c), opposite = literal ^ 1, ids = this.trace.ids;
		return [html("p", {}, "Otherwise there would be a cycle:"),
			html("ul", {class: "edges"}, edges.map((edge) => {
				const supposed = edge.under.includes(opposite);
				return html("li", {}, html("span", {class: `chip ${edge.kind}`}, edgeName(edge)), ` ${ids[edge.from]} before ${ids[edge.to]}, ${supposed ? "if" : "because"} ${edge.why}`,
					edge.under.filter((other) => other !== opposite).map((other) => this.literal(leaf, other, draw)));
			})),
			html("button", {type: "button", class: "small", onclick: () => draw(c, opposite)}, "Draw this cycle")];
	}

	/* What unfolds below an edge. */
	basis(leaf, edge, draw) {
		const ways = edge.under.map((literal) => this.literal(leaf, literal, draw));
		return [html("p", {class: "why"}, `${edge.why}.`),
			ways.length > 0 ? html("div", {class: "basis"}, html("p", {class: "label"}, "This rests on"), ways) : null];
	}
}
