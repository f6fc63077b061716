/* The times of a finding: a lane for each transaction, with its statements as bars from sent to answered and the spans in which its snapshot and commit lie; below them until when versions could be
 * seen, and the gaps between instants that leave no room. What has no end runs to the edge. Labels stand above their bars; whatever would overlap goes a row down. */

const LANES = {margin: 14, row: 32, head: 26, tall: 11, apart: 10, font: 12};
const SPANS = {snapshot: "snapshot taken", commit: "committed", locked: "certainly locked"};
const OPEN_LABEL = " (no reply)";

class Lanes {
	/* held: the trace with its time_unit, skew and stamps */
	constructor(held, finding) {
		Object.assign(this, {held, finding, half: (Number(held.skew) + 1) >> 1});
		this.makeAxis();
		this.pen = document.createElement("canvas").getContext("2d");
		this.element = html("div", {class: "lanes"});
		new ResizeObserver(() => this.draw()).observe(this.element);
	}

	/* ---- the axis ---- */

	makeAxis() {
		const {lanes, windows, gaps} = this.finding, all = [...lanes.flatMap((lane) => [...lane.statements, ...lane.spans]), ...windows, ...gaps];
		const exact = all.flatMap(({from, to}) => [from, to]).filter((t) => t !== null).map(BigInt);
		this.first = exact.reduce((a, b) => (b < a ? b : a), exact[0] ?? 0n);
		const instants = [...new Set(exact.map((t) => Number(t - this.first)))].sort((a, b) => a - b), range = Math.max(1, instants.at(-1) ?? 0);
		const usual = instants.slice(1).map((t, i) => t - instants[i]).sort((a, b) => a - b)[(instants.length - 1) >> 1] ?? range;
		this.pad = Math.max(usual > range * 0.015 ? range * 0.02 : usual, this.half);
		this.relative = String(this.first).length > 8;
		const last = range + 2 * this.pad;
		this.axis = new Axis(last, Axis.around(instants.map((t) => t + this.pad), last));
	}

	time(text) {
		return Number(BigInt(text) - this.first) + this.pad;
	}

	x(t) {
		return LANES.margin + (this.axis.place(t) / this.axis.last) * (this.width - 2 * LANES.margin);
	}

	/* Where a span is drawn; without a bound it runs to the edge. */
	place({from, to}) {
		return {left: from === null ? 0 : this.x(this.time(from)), right: to === null ? this.width : this.x(this.time(to)), openLeft: from === null, openRight: to === null};
	}

	/* ---- texts ---- */

	fit(text, most) {
		this.pen.font = `${LANES.font}px "DejaVu Sans Mono", monospace`;
		const full = this.pen.measureText(text).width;
		if (full <= most)
			return {text, wide: full};
		const fits = clip(text, Math.max(4, Math.floor((text.length * most) / full) - 1));
		return {text: fits, wide: Math.min(most, this.pen.measureText(fits).width)};
	}

	/* Puts items with labels into as few rows as keep them apart: each gets its row, and where its label stands. */
	pack(items) {
		const ends = [];
		for (const item of items) {
			const {text, wide} = this.fit(item.label, this.width - 4);
			item.shown = text;
			item.labelLeft = Math.max(2, Math.min(Math.max(0, item.left) + 3, this.width - wide - 2));
			const left = Math.min(item.left, item.labelLeft), right = Math.max(item.right, item.labelLeft + wide);
			item.row = ends.findIndex((end) => end + LANES.apart <= left);
			if (item.row < 0)
				item.row = ends.push(0) - 1;
			ends[item.row] = right;
		}
		return ends.length;
	}

	/* ---- drawing ---- */

	add(...elements) {
		this.shapes.push(...elements);
	}

	draw() {
		const width = Math.floor(this.element.clientWidth);
		if (width < 40 || width === this.width)
			return;
		this.width = width;
		this.shapes = [];
		this.y = 24;
		this.laneAt = [];
		const behind = svg("g", {});
		this.finding.lanes.forEach((lane) => this.drawLane(lane));
		if (this.finding.windows.length > 0)
			this.drawWindows();
		this.drawGaps(behind);
		const height = this.y + 8;
		this.element.replaceChildren(svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": this.describe()}, Lanes.waited(), this.drawAxis(height), behind, this.shapes));
	}

	/* How a statement that waited is filled. */
	static waited() {
		return svg("defs", {}, svg("pattern", {id: "waited", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)"}, svg("path", {d: "M0 0V6"})));
	}

	drawAxis(height) {
		const parts = [], said = (t) => (this.relative ? `+${Math.round(t - this.pad)}` : String(this.first + BigInt(Math.round(t - this.pad))));
		const origin = (this.relative ? 0 : Number(this.first)) - this.pad, apart = Math.max(60, this.fit(said(this.axis.last), 1e9).wide + 24);
		for (const {from, to} of this.axis.folds)
			parts.push(svg("rect", {class: "folded", x: this.x(from), y: 20, width: this.x(to) - this.x(from), height: height - 20}, svg("title", {}, "nothing that matters here: shortened")));
		let free = 0;
		for (const t of this.axis.ticks((time) => this.x(time), 0, this.axis.points.at(-1).t, apart, 1, origin)) {
			const x = this.x(t), label = said(t), half = this.fit(label, 1e9).wide / 2;
			if (x - half < free || x + half > this.width)
				continue;
			free = x + half + 8;
			parts.push(svg("path", {class: "tick", d: `M${x} 20V${height}`}), svg("text", {class: "when", x, y: 13, "text-anchor": "middle"}, label));
		}
		return svg("g", {}, parts);
	}

	drawHead(text, css) {
		this.add(svg("path", {class: "rule", d: `M0 ${this.y + 3}H${this.width}`}), svg("text", {class: `head ${css}`, x: 2, y: this.y + 19}, this.fit(text, (this.width - 4) * 0.9).text));
		this.y += LANES.head;
	}

	drawLane(lane) {
		const session = lane.session === undefined ? null : `session ${lane.session}`, line = lane.line > 0 ? `line ${lane.line}` : null;
		const about = [lane.id === lane.name ? null : lane.id, session, lane.auto ? "autocommit" : null, STATUS[lane.status], line].filter(Boolean).join(", ");
		this.laneAt.push(this.y);
		this.drawHead(`${lane.name}: ${about}`, "");
		const mark = this.held.stamps ? [] : lane.statements.map((one) => ({...one, css: `statement ${STATUS[lane.status].split(" ").at(-1)}${one.named ? " named" : ""}${one.implied ? " implied" : ""}${one.blocked ? " blocked" : ""}`}));
		const points = this.held.stamps ? lane.statements.map((one) => ({...one, css: `statement point${one.named ? " named" : ""}`})) : [];
		this.drawBars([...lane.spans.map((one) => ({...one, text: SPANS[one.what], css: `span ${one.what}`})), ...mark, ...points], true);
	}

	drawWindows() {
		this.drawHead("could be seen", "");
		this.drawBars(this.finding.windows.map((one) => ({...one, text: `${one.text}${one.seen ? " (seen)" : ""}`, css: `window ${one.seen ? "seen" : "could"}`})), false);
	}

	drawBars(bars, replies) {
		const items = bars.map((bar) => ({...bar, ...this.place(bar), label: `${bar.text}${replies && bar.to === null && bar.css.startsWith("statement") ? OPEN_LABEL : ""}`}))
			.sort((a, b) => a.left - b.left || a.right - b.right);
		const rows = this.pack(items);
		for (const item of items)
			this.drawBar(item, this.y + item.row * LANES.row);
		this.y += rows * LANES.row + 4;
	}

	/* A bar of no width is still to be seen. */
	drawBar(item, y) {
		const wide = Math.max(4, item.right - item.left), left = item.right - item.left < 4 ? (item.left + item.right) / 2 - 2 : item.left, top = y + 16, bottom = top + LANES.tall, middle = top + LANES.tall / 2;
		const tip = (at, way) => `L${at} ${middle}L${at - way * 7} `;
		const d = `M${item.openLeft ? 7 : left} ${top}H${item.openRight ? this.width - 7 : left + wide}${item.openRight ? `${tip(this.width, 1)}${bottom}` : `V${bottom}`}H${item.openLeft ? 7 : left}${item.openLeft ? `L0 ${middle}` : ""}Z`;
		const between = `${item.from ?? "\u2026"} to ${item.to ?? "\u2026"}`;
		if (item.css.startsWith("statement") && this.half > 0 && !item.implied)
			this.drawSkew(item, middle);
		this.add(svg("path", {class: `bar ${item.css}${item.openRight || item.openLeft ? " open" : ""}`, d}, svg("title", {}, `${item.label}: ${between}`)),
			svg("text", {class: `label ${item.css}`, x: item.labelLeft, y: y + 12}, item.shown));
	}

	/* What clocks may differ by, on both sides. */
	drawSkew(item, middle) {
		const from = item.from === null ? null : this.x(this.time(item.from) - this.half), to = item.to === null ? null : this.x(this.time(item.to) + this.half);
		for (const [a, b] of [[from, item.left], [to, item.right]])
			if (a !== null)
				this.add(svg("path", {class: "skew", d: `M${b} ${middle}H${a}M${a} ${middle - 5}V${middle + 5}`}));
	}

	/* Each gap in a row of its own: an arrow from the earlier instant to the later one, and lines up to the lanes of both. */
	drawGaps(behind) {
		const gaps = this.finding.gaps.map((gap) => ({...gap, ...this.place(gap), label: gap.text}));
		if (gaps.length === 0)
			return;
		const alone = gaps.filter((gap) => !gap.basis).length === 1;
		this.drawHead("what leaves no room", "wrong");
		for (const gap of gaps) {
			const css = gap.basis ? "gap basis" : "gap", y = this.y + 21, wide = gap.right - gap.left;
			this.pack([gap]);
			const up = (x, lane) => `M${x} ${this.laneAt[lane] + LANES.head}V${y + 6}`;
			if (!gap.basis && alone)
				behind.append(svg("rect", {class: "band", x: gap.left, y: 20, width: Math.max(1, wide), height: y - 14}));
			behind.append(svg("path", {class: `${css} up`, d: `${up(gap.left, gap.lanes[0])}${up(gap.right, gap.lanes[1])}`}));
			const head = wide > 12 ? `M${gap.left + 6} ${y - 4}L${gap.left} ${y}L${gap.left + 6} ${y + 4}M${gap.right - 6} ${y - 4}L${gap.right} ${y}L${gap.right - 6} ${y + 4}` : "";
			this.add(svg("path", {class: `${css} arrow`, d: `M${gap.left} ${y}H${gap.right}${head}`}), svg("text", {class: `label ${css}`, x: gap.labelLeft, y: this.y + 12}, gap.shown));
			this.y += LANES.row;
		}
	}

	describe() {
		const {lanes, gaps, why} = this.finding;
		return [`${why}.`, ...gaps.map((gap) => `${gap.text}.`), ...lanes.map((lane) => `${lane.name}: ${[...lane.statements.map((one) => [one.text, one]), ...lane.spans.map((one) => [SPANS[one.what], one])]
			.map(([text, {from, to}]) => `${text} from ${from ?? "an unknown time"} to ${to ?? "no known end"}`).join("; ")}.`)].join(" ");
	}
}
