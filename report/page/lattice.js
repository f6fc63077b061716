/* The levels, stronger above weaker, coloured by verdict: what was asked in full colour, what follows from it in a light one. Levels stand in ranks (the longest way down from
 * the top); in a rank they are sorted by where their neighbours stand, which keeps most lines apart. */

class Lattice {
	constructor(levels, verdicts, selected, select) {
		this.levels = levels.map((level) => ({...level, asked: verdicts.filter((v) => v.level === level.id), above: [], below: [], rank: 0}));
		this.byId = new Map(this.levels.map((level) => [level.id, level]));
		this.selected = selected;
		this.select = select;
		this.follow(verdicts);
		this.place();
	}

	/* Verdicts of levels that were not asked for, with their own orders. */
	follow(verdicts) {
		for (const verdict of verdicts)
			for (const id of verdict.follows)
				this.byId.get(id).follows ??= verdict.verdict;
	}

	place() {
		for (const level of this.levels) {
			for (const id of Object.keys(level.implies)) {
				level.below.push(this.byId.get(id));
				this.byId.get(id).above.push(level);
			}
		}
		for (let round = 0, changed = true; changed && round < this.levels.length; round++) {
			changed = false;
			for (const level of this.levels) {
				for (const below of level.below) {
					if (below.rank > level.rank)
						continue;
					below.rank = level.rank + 1;
					changed = true;
				}
			}
		}
		this.ranks = [];
		for (const level of this.levels)
			(this.ranks[level.rank] ??= []).push(level);
		this.ranks.forEach((rank) => this.spread(rank));
		for (let round = 0; round < 8; round++) {
			for (const rank of round % 2 ? this.ranks.slice().reverse() : this.ranks) {
				for (const level of rank) {
					const near = (round % 2 ? level.below : level.above).map((other) => other.x);
					level.wish = near.length > 0 ? near.reduce((a, b) => a + b) / near.length : level.x;
				}
				rank.sort((a, b) => a.wish - b.wish);
				this.spread(rank);
			}
		}
	}

	spread(rank) {
		rank.forEach((level, i) => {
			level.x = (i - (rank.length - 1) / 2) * 92;
			level.y = level.rank * 52;
		});
	}

	line(from, to, dashed) {
		const middle = (from.y + to.y) / 2;
		const known = (level) => (level.asked[0]?.verdict ?? level.follows) !== undefined;
		return svg("path", {
			class: `implies${dashed ? " plain" : ""}${known(from) && known(to) ? "" : " faint"}`,
			d: `M${from.x} ${from.y + 15}C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.y - 15}`,
		});
	}

	describe(level) {
		if (level.asked.length > 0)
			return level.asked.map((v) => `${v.verdict}, ${ORDERS[v.order]}${v.anomaly ? `: ${v.anomaly}` : ""}`).join("; ");
		return level.follows ? `${level.follows} with ${ORDERS[level.order]}, as follows from what was asked for` : "not asked for";
	}

	node(level) {
		const asked = level.asked, width = 84 / Math.max(asked.length, 1);
		const boxes = asked.length === 0
			? [svg("rect", {x: -42, y: -15, width: 84, height: 30, rx: 7, class: `level ${level.follows ? `follows ${level.follows}` : "open"}`})]
			: asked.map((v, i) => svg("rect", {x: -42 + i * width, y: -15, width, height: 30, rx: asked.length > 1 ? 3 : 7,
				class: `level asked ${v.verdict}${v === this.selected ? " chosen" : ""}`}));
		const mark = asked.length === 1 ? `${VERDICTS[asked[0].verdict].mark} ` : "";
		const text = svg("text", {class: asked.length > 0 ? "on" : level.follows ?? "open", "text-anchor": "middle", dy: "0.35em"}, mark + level.id);
		const title = svg("title", {}, `${level.title}: ${this.describe(level)}`);
		const press = asked.length === 0 ? {} : pressable(() => this.select(asked[(asked.indexOf(this.selected) + 1) % asked.length]));
		return svg("g", {class: "node", transform: `translate(${level.x} ${level.y})`, "data-level": level.id,
			"aria-label": `${level.id}, ${level.title}: ${this.describe(level)}`, role: "img",
			"aria-pressed": asked.length > 0 ? String(asked.includes(this.selected)) : null, ...press}, title, boxes, text);
	}

	draw() {
		const xs = this.levels.map((level) => level.x), left = Math.min(...xs) - 50, right = Math.max(...xs) + 50;
		const bottom = (this.ranks.length - 1) * 52;
		const lines = [];
		for (const level of this.levels)
			for (const other of this.levels)
				if (level.implies[other.id])
					lines.push(this.line(level, other, level.implies[other.id] !== "realtime"));
		return svg("svg", {class: "lattice", viewBox: `${left} -22 ${right - left} ${bottom + 44}`, width: right - left, height: bottom + 44,
			role: "group", "aria-label": "Levels of isolation, stronger ones above weaker ones"}, lines, this.levels.map((level) => this.node(level)));
	}
}
