/* The timeline: a row for each session, a bar for each transaction, on a canvas that draws only what can be seen: per row and pixel at most one bar, found by bisection, so that a
 * frame costs the same for a thousand transactions as for a million. Transactions that matter are lit; sessions without any are folded into one row, times without any into strips. */

const GUTTER = 132, TOP = 28, BAND = 30, MAP = 34, ROW = 44, ROWS_MOST = 460, PAPER = "640px";

class Timeline {
	/* lit: transactions that matter; edges: between them; pick(txn) shows one */
	constructor(trace, lit, pick) {
		Object.assign(this, {trace, pick, edges: [], chosen: -1, pinned: -1, hovered: -1, top: 0});
		this.lit = lit.slice().sort((a, b) => trace.start[a] - trace.start[b] || a - b);
		this.isLit = new Uint8Array(trace.n);
		for (const t of lit)
			this.isLit[t] = 1;
		this.byStart = Float64Array.from(trace.start).sort();
		this.makeElements();
		this.fold(this.lit.length > 0);
	}

	makeElements() {
		const button = (text, label, act) => html("button", {type: "button", "aria-label": label, title: label, onclick: act}, text);
		this.canvas = html("canvas", {tabindex: 0, role: "application", "aria-roledescription": "timeline", "aria-describedby": "timeline-keys",
			"aria-label": `Timeline of ${count(this.trace.n, "transaction")} in ${count(this.trace.rows.length, "row")}, ${this.lit.length} of them lit`});
		this.tip = html("div", {class: "tip", hidden: true, "aria-hidden": "true"});
		this.foldButton = html("button", {type: "button", onclick: () => this.fold(!this.folded)});
		this.element = html("div", {class: "timeline"},
			html("div", {class: "tools", role: "toolbar", "aria-label": "Timeline"}, this.lit.length > 0 ? this.foldButton : null,
				button("\u2212", "Zoom out", () => this.zoom(1.6)), button("+", "Zoom in", () => this.zoom(1 / 1.6)), button("Fit", "Show everything", () => this.fit()),
				this.lit.length > 0 ? button("\u2039", "Previous transaction that matters", () => this.step(-1)) : null,
				this.lit.length > 0 ? button("\u203a", "Next transaction that matters", () => this.step(1)) : null,
				html("span", {class: "hint", id: "timeline-keys"}, "Drag to move, wheel to zoom (click first); keys: arrows, + \u2212, 0, n and p for the transactions that matter.")),
			html("div", {class: "frame"}, this.canvas, this.tip));
		const canvas = this.canvas;
		canvas.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
		canvas.addEventListener("pointerdown", (event) => this.press(event));
		canvas.addEventListener("pointermove", (event) => this.move(event));
		canvas.addEventListener("pointerup", (event) => this.release(event));
		canvas.addEventListener("pointerleave", () => this.hover(-1));
		canvas.addEventListener("keydown", (event) => this.key(event));
		new ResizeObserver(() => this.draw()).observe(this.element);
	}

	/* Lights only what matters, or shows every session and time alike. */
	fold(folded) {
		const trace = this.trace;
		this.folded = folded;
		this.foldButton.textContent = folded ? "Show all" : "Fold the rest";
		this.litRows = new Set(this.lit.map((t) => trace.rows[trace.rowOf[t]]));
		this.rows = trace.rows.filter((row) => !folded || this.litRows.has(row));
		this.others = trace.rows.length - this.rows.length;
		this.placeOf = new Map(this.rows.map((row, i) => [row, i]));
		this.axis = new Axis(trace.last, folded ? Axis.windows(trace, this.lit) : []);
		this.rowHeight = Math.max(folded ? ROW : 14, Math.min(ROW, ROWS_MOST / Math.max(1, this.rows.length)));
		this.top = 0;
		this.fit();
	}

	get rowsHeight() {
		return Math.min(ROWS_MOST, this.rows.length * this.rowHeight);
	}

	fit() {
		const margin = this.axis.last * 0.01;
		this.setView(-margin, this.axis.last + margin);
	}

	setView(from, to) {
		const most = this.axis.last * 1.1, wide = Math.min(Math.max(to - from, this.axis.last * 1e-7), most);
		const middle = Math.min(Math.max((from + to) / 2, 0), this.axis.last);
		this.view = {from: middle - wide / 2, to: middle + wide / 2};
		this.draw();
	}

	zoom(factor, x) {
		const {from, to} = this.view, at = x === undefined ? (from + to) / 2 : this.u(x);
		this.setView(at + (from - at) * factor, at + (to - at) * factor);
	}

	pan(part) {
		const by = (this.view.to - this.view.from) * part;
		this.setView(this.view.from + by, this.view.to + by);
	}

	scroll(by) {
		this.top = Math.max(0, Math.min(this.top + by, this.rows.length * this.rowHeight - this.rowsHeight));
		this.draw();
	}

	/* ---- places ---- */

	get width() {
		return this.canvas.clientWidth - GUTTER - 12;
	}

	x(t) {
		return GUTTER + ((this.axis.place(t) - this.view.from) / (this.view.to - this.view.from)) * this.width;
	}

	u(x) {
		return this.view.from + ((x - GUTTER) / this.width) * (this.view.to - this.view.from);
	}

	t(x) {
		return this.axis.time(this.u(x));
	}

	/* The first place in txns, sorted by start, that starts at t or later. */
	from(txns, t) {
		let low = 0, high = txns.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.trace.start[txns[middle]] < t)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	rowAt(y) {
		const row = y < TOP || y >= TOP + this.rowsHeight ? -1 : Math.floor((y - TOP + this.top) / this.rowHeight);
		return row < this.rows.length ? row : -1;
	}

	at(x, y) {
		const row = this.rows[this.rowAt(y)];
		if (!row || x < GUTTER)
			return -1;
		let best = -1, away = 6;
		for (let i = Math.min(row.txns.length, this.from(row.txns, this.t(x + 6))), back = 0; i-- > 0 && back < 64; back++) {
			const t = row.txns[i], left = this.x(this.trace.start[t]), right = Math.max(left + 2, this.x(this.trace.stop[t]));
			const far = x < left ? left - x : Math.max(0, x - right);
			if (far < away || (far === away && this.isLit[t])) {
				best = t;
				away = far;
			}
		}
		return best;
	}

	/* ---- hands ---- */

	wheel(event) {
		if (document.activeElement !== this.canvas && !event.ctrlKey)
			return;
		event.preventDefault();
		if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
			this.pan(Math.sign(event.deltaX || event.deltaY) * 0.08);
		else
			this.zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, event.offsetX);
	}

	press(event) {
		this.held = {x: event.offsetX, y: event.offsetY, view: this.view, top: this.top, moved: false, map: event.offsetY > this.mapTop};
		this.canvas.setPointerCapture(event.pointerId);
		this.move(event);
	}

	move(event) {
		const held = this.held;
		if (!held) {
			this.hover(this.at(event.offsetX, event.offsetY), event);
			return;
		}
		if (held.map) {
			const middle = ((event.offsetX - GUTTER) / this.width) * this.axis.last, wide = this.view.to - this.view.from;
			this.setView(middle - wide / 2, middle + wide / 2);
			return;
		}
		held.moved ||= Math.hypot(event.offsetX - held.x, event.offsetY - held.y) > 4;
		if (!held.moved)
			return;
		const by = ((held.x - event.offsetX) / this.width) * (held.view.to - held.view.from);
		this.top = Math.max(0, Math.min(held.top + held.y - event.offsetY, this.rows.length * this.rowHeight - this.rowsHeight));
		this.setView(held.view.from + by, held.view.to + by);
	}

	release(event) {
		const held = this.held, t = this.at(event.offsetX, event.offsetY);
		this.held = null;
		if (held && !held.moved && !held.map && t >= 0)
			this.pick(t);
	}

	hover(t, event) {
		const trace = this.trace;
		this.tip.hidden = t < 0;
		if (t >= 0) {
			const ops = trace.operations(t), most = 8;
			trace.load();
			this.tip.replaceChildren(html("strong", {}, clip(trace.ids[t], 40)), html("span", {}, `${clip(trace.sessionName(t), 60)}, ${STATUS[trace.status[t]]}`),
				...(ops ?? []).slice(0, most).map((op) => html("code", {}, clip(op, 48))), ops && ops.length > most ? html("span", {}, `${ops.length - most} more`) : "");
			const flip = event.offsetX > this.canvas.clientWidth - 260;
			this.tip.style.left = flip ? "" : `${event.offsetX + 14}px`;
			this.tip.style.right = flip ? `${this.canvas.clientWidth - event.offsetX + 14}px` : "";
			this.tip.style.top = `${event.offsetY + 14}px`;
		}
		if (t !== this.hovered) {
			this.hovered = t;
			this.canvas.style.cursor = t >= 0 ? "pointer" : "grab";
			this.draw();
		}
	}

	key(event) {
		const acts = {
			ArrowLeft: () => this.pan(-0.15), ArrowRight: () => this.pan(0.15), ArrowUp: () => this.scroll(-this.rowHeight), ArrowDown: () => this.scroll(this.rowHeight),
			"+": () => this.zoom(1 / 1.6), "=": () => this.zoom(1 / 1.6), "-": () => this.zoom(1.6), 0: () => this.fit(), Home: () => this.fit(),
			n: () => this.step(1), p: () => this.step(-1),
		};
		const act = acts[event.key];
		if (!act || event.ctrlKey || event.metaKey || event.altKey)
			return;
		event.preventDefault();
		act();
	}

	step(by) {
		if (this.lit.length === 0)
			return;
		const now = this.lit.indexOf(this.pinned), next = now < 0 ? (by > 0 ? 0 : this.lit.length - 1) : (now + by + this.lit.length) % this.lit.length;
		this.pick(this.lit[next]);
	}

	/* Brings a transaction into view. */
	show(t) {
		const trace = this.trace, row = trace.rows[trace.rowOf[t]];
		this.pinned = t;
		if (!this.placeOf.has(row))
			this.fold(false);
		const from = this.axis.place(trace.start[t]), to = this.axis.place(trace.stop[t]), y = this.placeOf.get(row) * this.rowHeight;
		if (y < this.top || y + this.rowHeight > this.top + this.rowsHeight)
			this.top = Math.max(0, Math.min(y - this.rowsHeight / 2, this.rows.length * this.rowHeight - this.rowsHeight));
		if (from < this.view.from || to > this.view.to || (to - from) * 400 < this.view.to - this.view.from) {
			const wide = Math.min(this.view.to - this.view.from, Math.max((to - from) * 40, this.axis.last * 1e-6));
			this.setView((from + to) / 2 - wide / 2, (from + to) / 2 + wide / 2);
		}
		this.draw();
	}

	connect(edges, chosen) {
		this.edges = edges;
		this.chosen = chosen;
		this.draw();
	}

	/* ---- drawing ---- */

	draw() {
		if (this.pending || !this.view)
			return;
		this.pending = requestAnimationFrame(() => {
			this.pending = 0;
			if (this.canvas.isConnected)
				this.paint();
		});
	}

	get mapTop() {
		return TOP + this.rowsHeight + (this.others > 0 ? BAND : 0) + 10;
	}

	/* Painted at once, for what no later frame reaches. */
	fitTo(width) {
		this.element.style.width = width;
		this.paint();
	}

	paint() {
		const canvas = this.canvas, ratio = this.element.style.width === PAPER ? 3 : devicePixelRatio || 1, height = this.mapTop + MAP, style = getComputedStyle(this.element);
		this.colour = (name) => style.getPropertyValue(`--${name}`).trim();
		this.font = style.fontFamily;
		canvas.style.height = `${height}px`;
		canvas.width = Math.round(canvas.clientWidth * ratio);
		canvas.height = Math.round(height * ratio);
		const c = (this.c = canvas.getContext("2d"));
		c.setTransform(ratio, 0, 0, ratio, 0, 0);
		c.clearRect(0, 0, canvas.clientWidth, height);
		this.paintFolds();
		this.paintTicks();
		c.save();
		c.beginPath();
		c.rect(0, TOP, canvas.clientWidth, this.rowsHeight);
		c.clip();
		this.rows.forEach((row, i) => this.paintRow(row, i));
		this.paintEdges();
		c.restore();
		if (this.others > 0)
			this.paintBand();
		this.paintMap();
	}

	text(text, x, y, colour, size, align) {
		const c = this.c;
		c.fillStyle = this.colour(colour);
		c.font = `${size}px ${this.font}`;
		c.textAlign = align ?? "left";
		c.textBaseline = "middle";
		c.fillText(text, x, y);
	}

	/* Strips into which times are pressed. */
	paintFolds() {
		const c = this.c, bottom = TOP + this.rowsHeight;
		for (const {from, to} of this.axis.folds) {
			const left = Math.max(GUTTER, this.x(from)), right = Math.min(GUTTER + this.width, this.x(to));
			if (right <= left)
				continue;
			c.fillStyle = this.colour("fold");
			c.fillRect(left, TOP, right - left, bottom - TOP);
			const between = this.from0(to) - this.from0(from);
			if (right - left > 26)
				this.text(`\u22ef${right - left > 60 ? ` ${number(between)}` : ""}`, (left + right) / 2, TOP - 12, "faint", 11, "center");
		}
	}

	from0(t) {
		let low = 0, high = this.byStart.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.byStart[middle] < t)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	paintTicks() {
		const c = this.c, bottom = TOP + this.rowsHeight;
		const unit = this.trace.time_unit;
		this.text(!this.trace.timed ? "place in session" : this.trace.scale !== undefined ? "since the start" : unit ? `time (${clip(unit, 8)})` : "time", 12, TOP - 12, "faint", 11);
		for (const t of this.axis.ticks((time) => this.x(time), this.t(GUTTER), this.t(GUTTER + this.width), 90, this.trace.timed ? 1e-9 : 1)) {
			const x = this.x(t);
			c.fillStyle = this.colour("grid");
			c.fillRect(x, TOP, 1, bottom - TOP);
			this.text(this.trace.timed ? this.trace.tick(t) : number(t + 1), x, TOP - 12, "muted", 11, "center");
		}
	}

	paintRow(row, i) {
		const c = this.c, y = TOP + i * this.rowHeight - this.top, height = this.rowHeight, trace = this.trace;
		if (y + height < TOP || y > TOP + this.rowsHeight)
			return;
		c.fillStyle = this.colour("grid");
		c.fillRect(0, y + height - 0.5, GUTTER + this.width, 0.5);
		if (height >= 12)
			this.text(clip(row.name, 18), 12, y + height / 2, this.litRows.has(row) ? "ink" : "muted", Math.min(12, height - 2));
		const thick = Math.max(3, Math.min(16, height * 0.45)), middle = y + height / 2 + (height >= 36 ? 6 : 0), right = GUTTER + this.width;
		c.save();
		c.beginPath();
		c.rect(GUTTER, TOP, this.width, this.rowsHeight);
		c.clip();
		for (let k = Math.max(0, this.from(row.txns, this.t(GUTTER)) - 1); k < row.txns.length; ) {
			const t = row.txns[k], left = this.x(trace.start[t]), wide = Math.max(1, this.x(trace.stop[t]) - left - 0.5);
			if (left > right)
				break;
			c.fillStyle = this.colour(t === this.hovered ? "muted" : trace.status[t] === "c" ? "bar" : trace.status[t] === "a" ? "bar-aborted" : "bar-unknown");
			c.fillRect(left, middle - thick / 2, wide, thick);
			if (wide > 60 && height >= 36 && !this.isLit[t])
				this.text(clip(trace.ids[t], Math.floor(wide / 8)), Math.max(left, GUTTER + 2), middle - thick / 2 - 9, "muted", 11);
			k = wide > 1 ? k + 1 : Math.max(k + 1, this.from(row.txns, this.t(left + 1)));
		}
		let free = GUTTER; /* of labels */
		for (const t of this.pinned >= 0 && !this.isLit[this.pinned] ? [...this.lit, this.pinned] : this.lit)
			if (trace.rows[trace.rowOf[t]] === row)
				free = this.paintLit(t, middle, thick, free);
		c.restore();
	}

	/* Where the next label may begin. */
	paintLit(t, middle, thick, free) {
		const c = this.c, trace = this.trace, left = this.x(trace.start[t]), wide = Math.max(4, this.x(trace.stop[t]) - left);
		if (left > GUTTER + this.width || left + wide < GUTTER)
			return free;
		c.fillStyle = this.colour(this.isLit[t] ? (trace.status[t] === "c" ? "lit" : trace.status[t] === "a" ? "lit-aborted" : "lit-unknown") : "muted");
		c.beginPath();
		c.roundRect(left, middle - thick / 2 - 1, wide, thick + 2, 4);
		c.fill();
		if (t === this.pinned) {
			c.strokeStyle = this.colour("ink");
			c.lineWidth = 2;
			c.beginPath();
			c.roundRect(left - 3, middle - thick / 2 - 4, wide + 6, thick + 8, 6);
			c.stroke();
		}
		return this.rowHeight >= 24 ? this.label(clip(trace.ids[t], 20), left, middle - thick / 2 - 9, t === this.pinned ? GUTTER : free) : free;
	}

	/* Above a bar, and within the frame; not over another one. */
	label(text, left, y, free) {
		this.c.font = `11px ${this.font}`;
		const wide = this.c.measureText(text).width, x = Math.max(Math.min(left, GUTTER + this.width - wide - 2), GUTTER + 2);
		if (x < free)
			return free;
		this.text(text, x, y, "ink", 11);
		return x + wide + 6;
	}

	/* Where an edge meets a lit bar: each edge at a part of its own, so that bars of the same time do not heap them. */
	anchor(t, part) {
		const place = this.placeOf.get(this.trace.rows[this.trace.rowOf[t]]);
		if (place === undefined)
			return null;
		const left = this.x(this.trace.start[t]), right = this.x(this.trace.stop[t]);
		return {x: left + (Math.max(right, left + 4) - left) * part, y: TOP + (place + 0.5) * this.rowHeight - this.top + (this.rowHeight >= 36 ? 6 : 0)};
	}

	paintEdges() {
		const c = this.c;
		this.edges.forEach((edge, i) => {
			const part = (i + 1) / (this.edges.length + 1), a = this.anchor(edge.from, part), b = this.anchor(edge.to, part);
			if (!a || !b)
				return;
			const length = Math.hypot(b.x - a.x, b.y - a.y) || 1, bend = Math.min(46, length * 0.25) + 6;
			const x = (a.x + b.x) / 2 + ((b.y - a.y) / length) * bend, y = (a.y + b.y) / 2 - ((b.x - a.x) / length) * bend;
			const angle = Math.atan2(b.y - y, b.x - x), end = {x: b.x - Math.cos(angle) * 9, y: b.y - Math.sin(angle) * 9};
			c.strokeStyle = c.fillStyle = this.colour(edge.kind);
			c.globalAlpha = this.chosen < 0 || this.chosen === i ? 1 : 0.35;
			c.lineWidth = this.chosen === i ? 3.5 : 2;
			c.beginPath();
			c.moveTo(a.x, a.y);
			c.quadraticCurveTo(x, y, end.x, end.y);
			c.stroke();
			c.beginPath();
			c.moveTo(b.x - Math.cos(angle) * 2, b.y - Math.sin(angle) * 2);
			c.lineTo(end.x - Math.cos(angle + 2.2) * -6, end.y - Math.sin(angle + 2.2) * -6);
			c.lineTo(end.x - Math.cos(angle - 2.2) * -6, end.y - Math.sin(angle - 2.2) * -6);
			c.fill();
			c.globalAlpha = 1;
		});
	}

	/* Transactions that start within each pixel, as a strip; `place` gives a pixel's time. */
	paintDensity(y, height, colour, place) {
		const c = this.c, counts = new Float64Array(Math.ceil(this.width));
		let most = 1;
		for (let x = 0, before = this.from0(place(0)); x < counts.length; x++) {
			const next = this.from0(place(x + 1));
			counts[x] = next - before;
			before = next;
			most = Math.max(most, counts[x]);
		}
		c.fillStyle = this.colour(colour);
		for (let x = 0; x < counts.length; x++) {
			const tall = counts[x] > 0 ? Math.max(1.5, (Math.log1p(counts[x]) / Math.log1p(most)) * height) : 0;
			c.fillRect(GUTTER + x, y + height - tall, 1, tall);
		}
	}

	paintBand() {
		const y = TOP + this.rowsHeight + 4;
		this.text(count(this.others, "other session"), 12, y + 11, "muted", 11);
		this.paintDensity(y, BAND - 10, "bar", (x) => this.t(GUTTER + x));
	}

	/* The whole trace in small, with what is in view. */
	paintMap() {
		const c = this.c, y = this.mapTop, axis = this.axis, at = (u) => GUTTER + (Math.min(Math.max(u, 0), axis.last) / axis.last) * this.width;
		this.text("overview", 12, y + MAP / 2 - 4, "faint", 11);
		c.fillStyle = this.colour("fold");
		c.fillRect(GUTTER, y, this.width, MAP - 8);
		this.paintDensity(y + 2, MAP - 12, "bar", (x) => axis.time((x / this.width) * axis.last));
		for (const t of this.lit) {
			c.fillStyle = this.colour("lit");
			c.fillRect(at(axis.place(this.trace.start[t])), y, Math.max(2, at(axis.place(this.trace.stop[t])) - at(axis.place(this.trace.start[t]))), MAP - 8);
		}
		c.strokeStyle = this.colour("ink");
		c.lineWidth = 1.5;
		c.strokeRect(at(this.view.from), y - 1, Math.max(4, at(this.view.to) - at(this.view.from)), MAP - 6);
	}
}
