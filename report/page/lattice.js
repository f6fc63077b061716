/* The levels, stronger above weaker, coloured by verdict: what was asked in full colour, what follows from it in a light one. Levels stand in ranks (the longest way down from
 * the top); in a rank they are sorted by where their neighbours stand, which keeps most lines apart. */

const BOX = {width: 116, height: 50, apart: 8, down: 70, bend: 14, letters: 18, lines: 2};
const NARROW_BOX = {width: 98, height: 62, apart: 4, down: 78, bend: 9, letters: 15, lines: 3};

function linesOf(name, box) {
	const words = name.split(" "), lines = [""];
	for (const word of words) {
		if (lines.at(-1) !== "" && lines.at(-1).length + word.length + 1 > box.letters && lines.length < box.lines)
			lines.push("");
		lines[lines.length - 1] += (lines.at(-1) === "" ? "" : " ") + word;
	}
	return lines.map((line) => clip(line, box.letters + 1));
}

class Lattice {
	constructor(levels, verdicts, selected, select) {
		this.box = NARROW.matches ? NARROW_BOX : BOX;
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
		this.bend();
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

	/* A line over several ranks gets a place in each of them, as levels do, so that it passes between boxes. */
	bend() {
		this.lines = [];
		for (const level of this.levels) {
			level.below = level.below.map((other) => {
				const path = [level], line = {path, from: level, to: other};
				for (let rank = level.rank + 1; rank < other.rank; rank++) {
					const bend = {rank, bend: true, above: [path.at(-1)], below: []};
					this.ranks[rank].push(bend);
					path.push(bend);
				}
				path.push(other);
				this.lines.push(line);
				return path[1];
			});
		}
		for (const {path} of this.lines)
			path.slice(1).forEach((one, i) => {
				if (path[i].bend)
					path[i].below = [one];
				one.above = one.bend ? one.above : [...one.above.filter((other) => other !== path[0]), path.at(-2)];
			});
	}

	spread(rank) {
		const box = this.box, wide = (one) => (one.bend ? box.bend : box.width + box.apart), all = rank.reduce((sum, one) => sum + wide(one), 0);
		let x = -all / 2;
		for (const one of rank) {
			one.x = x + wide(one) / 2;
			one.y = one.rank * box.down;
			x += wide(one);
		}
	}

	line({path, from, to}, dashed) {
		const known = (level) => (level.asked[0]?.verdict ?? level.follows) !== undefined, half = this.box.height / 2;
		let d = `M${from.x} ${from.y + half}`;
		path.slice(1).forEach((one, i) => {
			const top = path[i].y + half, bottom = one.y - half, middle = (top + bottom) / 2;
			d += `C${path[i].x} ${middle} ${one.x} ${middle} ${one.x} ${bottom}${one.bend ? `V${one.y + half}` : ""}`;
		});
		return svg("path", {
			class: `implies${dashed ? " plain" : ""}${known(from) && known(to) ? "" : " faint"}`,
			d,
		});
	}

	describe(level) {
		if (level.asked.length > 0)
			return level.asked.map((v) => `${v.verdict}, ${ORDERS[v.order]}${v.anomaly ? `: ${v.anomaly}` : ""}`).join("; ");
		return level.follows ? `${level.follows} with ${ORDERS[level.order]}, as follows from what was asked for` : "not asked for";
	}

	node(level) {
		const asked = level.asked, {width: all, height} = this.box, width = all / Math.max(asked.length, 1), left = -all / 2, top = -height / 2;
		const boxes = asked.length === 0
			? [svg("rect", {x: left, y: top, width: all, height, rx: 7, class: `level ${level.follows ? `follows ${level.follows}` : "open"}`})]
			: asked.map((v, i) => svg("rect", {x: left + i * width, y: top, width, height, rx: asked.length > 1 ? 3 : 7,
				class: `level asked ${v.verdict}${v === this.selected ? " chosen" : ""}`}));
		const mark = asked.length === 1 ? `${VERDICTS[asked[0].verdict].mark} ` : "";
		const shade = asked.length > 0 ? "on" : level.follows ?? "open", names = linesOf(level.title, this.box);
		const text = svg("g", {class: shade}, [mark + level.id, ...names].map((line, i) => svg("text", {class: i === 0 ? shade : `name ${shade}`, "text-anchor": "middle", dy: "0.35em",
			y: (i - names.length / 2) * 13}, line)));
		const title = svg("title", {}, `${level.title}: ${this.describe(level)}`);
		const press = asked.length === 0 ? {} : pressable(() => this.select(asked[(asked.indexOf(this.selected) + 1) % asked.length]));
		return svg("g", {class: "node", transform: `translate(${level.x} ${level.y})`, "data-level": level.id,
			"aria-label": `${level.id}, ${level.title}: ${this.describe(level)}`, role: "img",
			"aria-pressed": asked.length > 0 ? String(asked.includes(this.selected)) : null, ...press}, title, boxes, text);
	}

	draw() {
		const side = (one) => (one.bend ? 0 : this.box.width / 2) + 6, all = this.ranks.flat();
		const left = Math.min(...all.map((one) => one.x - side(one))), right = Math.max(...all.map((one) => one.x + side(one)));
		const bottom = (this.ranks.length - 1) * this.box.down, margin = this.box.height / 2 + 6;
		const lines = this.lines.map((line) => this.line(line, line.from.implies[line.to.id] !== "realtime"));
		return svg("svg", {class: "lattice", viewBox: `${left} ${-margin} ${right - left} ${bottom + 2 * margin}`, width: right - left, height: bottom + 2 * margin,
			role: "group", "aria-label": "Levels of isolation, stronger ones above weaker ones"}, lines, this.levels.map((level) => this.node(level)));
	}
}
