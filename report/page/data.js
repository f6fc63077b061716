/* What krait wrote into the page (report/page_*.c), as objects. Texts of the trace are only ever shown as text. */

const KINDS = {
	wr: {name: "write-read", says: "read what the other wrote"},
	ww: {name: "write-write", says: "its version came first"},
	rw: {name: "read-write", says: "read an older version than the other wrote"},
	so: {name: "session order", says: "came first in the session"},
	rt: {name: "real time", says: "had returned before the other began"},
};
const VERDICTS = {
	satisfied: {mark: "\u2713", title: "satisfied"},
	violated: {mark: "\u2717", title: "violated"},
	unknown: {mark: "?", title: "unknown"},
};
const STATUS = {c: "committed", a: "aborted", u: "outcome unknown"};
const ORDERS = {none: "no order", session: "session order", realtime: "real-time order"};

/* Of a unit of time. */
const SECONDS = {s: 1, sec: 1, second: 1, seconds: 1, ms: 1e-3, millisecond: 1e-3, milliseconds: 1e-3, us: 1e-6, "\u00b5s": 1e-6, "\u03bcs": 1e-6, microsecond: 1e-6,
	microseconds: 1e-6, ns: 1e-9, nanosecond: 1e-9, nanoseconds: 1e-9};

/* Seconds, in s, ms or \u00b5s. */
function duration(seconds) {
	const [unit, scale] = seconds === 0 || seconds >= 1 ? ["s", 1] : seconds >= 1e-3 ? ["ms", 1e3] : ["\u00b5s", 1e6];
	return `${number(+(seconds * scale).toPrecision(9))} ${unit}`;
}

const clip = (text, most) => (text.length > most ? text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "") + "\u2026" : text);

class Trace {
	constructor(data) {
		Object.assign(this, data);
		this.verdicts = [];
		this.ids ??= [];
		this.n = this.ids.length;
		if (!this.format)
			return;
		for (let t = 1; t < this.n; t++)
			this.line[t] += this.line[t - 1];
		this.timed = this.begin !== undefined;
		this.scale = SECONDS[this.time_unit?.toLowerCase()];
		this.makeRows();
	}

	/* Rows of the timeline: one a session; transactions without a session share as few rows as their times allow. */
	makeRows() {
		const bySession = this.sessions.map((name, i) => ({name, session: i, txns: []})), rows = bySession.slice(), alone = [];
		for (let t = 0; t < this.n; t++)
			(this.session[t] < 0 ? alone : bySession[this.session[t]].txns).push(t);
		this.start = new Float64Array(this.n);
		this.stop = new Float64Array(this.n);
		if (this.timed)
			this.makeTimes();
		const lanes = this.makeLanes(alone), names = new Intl.Collator("en", {numeric: true});
		rows.sort((a, b) => names.compare(a.name, b.name));
		this.rows = rows.filter((row) => row.txns.length > 0).concat(lanes);
		this.rowOf = new Int32Array(this.n);
		this.rows.forEach((row, r) => {
			if (this.timed)
				row.txns.sort((a, b) => this.start[a] - this.start[b] || a - b);
			row.txns.forEach((t, k) => {
				this.rowOf[t] = r;
				if (this.timed)
					return;
				this.start[t] = k;
				this.stop[t] = k + 0.8;
			});
		});
		this.last = this.stop.reduce((a, b) => Math.max(a, b), 1);
	}

	/* A transaction without an end is drawn as long as others are. */
	makeTimes() {
		const known = this.length.filter((length) => length >= 0).sort((a, b) => a - b), usual = known[known.length >> 1] ?? 1;
		for (let t = 0; t < this.n; t++) {
			this.start[t] = this.begin[t];
			this.stop[t] = this.begin[t] + (this.length[t] < 0 ? usual : this.length[t]);
		}
	}

	makeLanes(alone) {
		if (!this.timed)
			return alone.length > 0 ? [{name: "no session", session: -1, txns: alone}] : [];
		const lanes = [], ends = [];
		alone.sort((a, b) => this.start[a] - this.start[b] || a - b);
		for (const t of alone) {
			let lane = ends.findIndex((end) => end <= this.start[t]);
			if (lane < 0)
				lane = lanes.length < 200 ? lanes.push({name: "no session", session: -1, txns: []}) - 1 : 199;
			lanes[lane].txns.push(t);
			ends[lane] = this.stop[t];
		}
		return lanes;
	}

	/* Operations are a large part of the page, and nothing that is shown first needs them. */
	load() {
		this.loading ??= this.operationsElement ? textOf(this.operationsElement).then((text) => {
			this.texts = JSON.parse(text);
		}) : Promise.resolve();
		return this.loading;
	}

	/* The operations of a transaction, a text each; null when the page has none of it, or before they are loaded. */
	operations(t) {
		if (!this.texts || t >= this.texts.length)
			return null;
		return this.texts[t] === "" ? [] : this.texts[t].split("\n");
	}

	get violated() {
		return this.verdicts.some((verdict) => verdict.verdict === "violated");
	}

	sessionName(t) {
		return this.session[t] < 0 ? "no session" : `session ${this.sessions[this.session[t]]}`;
	}

	place(t) {
		const file = this.files[this.file ? this.file[t] : 0] ?? "generated";
		return this.line[t] > 0 ? `${file}:${this.line[t]}` : file;
	}

	/* A time as the trace has it, exact as long as the number is; where the unit is known, behind the time since the trace began. */
	time(x) {
		const exact = BigInt(this.first_time) + BigInt(Math.round(x)), told = this.time_unit ? `${exact} ${this.time_unit}` : String(exact);
		return this.scale === undefined ? told : `${duration(x * this.scale)} (${told})`;
	}

	/* For the axis: since the trace began. */
	tick(x) {
		return this.scale === undefined ? number(+x.toPrecision(12)) : duration(x * this.scale);
	}
}

/* A trace that was held to a profile, with what was found. */
class Held {
	constructor(data) {
		Object.assign(this, data);
		this.findings = [];
		this.found = [];
	}

	get violated() {
		return this.found.length > 0;
	}
}

/* The text of an element that holds data, packed or not. */
async function textOf(element) {
	if (element.dataset.packed === undefined)
		return element.textContent;
	const bytes = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
	return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
}

/* {levels, traces}: each trace with its verdicts. */
async function readData() {
	const data = {levels: [], traces: []};
	for (const element of document.querySelectorAll("script[data-krait]")) {
		const kind = element.dataset.krait;
		if (kind === "operations") {
			data.traces.at(-1).operationsElement = element;
			continue;
		}
		const part = JSON.parse(await textOf(element));
		if (kind === "levels")
			data.levels = part;
		else if (kind === "verdict")
			data.traces.at(-1).verdicts.push(part);
		else if (kind === "profile")
			data.traces.push(new Held(part));
		else if (kind === "finding")
			data.traces.at(-1).findings.push(part);
		else if (kind === "outcome")
			Object.assign(data.traces.at(-1), part);
		else if (kind === "failed" && data.traces.at(-1)?.trace === part.trace)
			data.traces.at(-1).error = part.error;
		else
			data.traces.push(new Trace(part));
	}
	return data;
}
