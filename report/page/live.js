/* The live page: what krait tells of a stream while it reads it (report/live.c). There are three messages: the state, which takes the place of the one before; a finding more; and the end.
 * Their texts are only ever shown as text. */

const MECHANISMS = {CR: "consistent read", ME: "mutual exclusion", FUW: "first updater wins", SC: "serialization certifier", SESSION: "session order"};
const ENDS = {ended: "ended", failed: "ended with an error", stopped: "stopped"};
const SHOWN = 500; // findings; as many as krait keeps for browsers that come later
const PATIENCE = 2000, MOMENT = 250; // milliseconds

const clock = (at) => new Date(at).toLocaleTimeString("en-GB");
const strong = (text) => html("b", {}, text);

class Live {
	constructor() {
		this.makeTiles();
		this.connection = html("span", {class: "connection", role: "status"}, "connecting");
		this.trace = html("span", {class: "trace"});
		this.profile = html("span", {class: "chip"});
		this.badge = html("span", {class: "badge"}, "waiting");
		this.title = html("h1", {}, "Waiting for krait");
		this.sentence = html("p", {class: "sentence"});
		this.hero = html("section", {class: "hero watching"}, this.badge, this.title, this.sentence);
		this.warning = html("section", {class: "panel warning", hidden: true});
		this.counts = html("ul", {class: "counts"});
		this.more = html("button", {type: "button", class: "small more", hidden: true, onclick: () => this.showFindings()});
		this.list = html("ol", {class: "reasons findings"});
		this.list.addEventListener("toggle", () => this.reads() || this.showFindings(), true);
		this.hidden = html("p", {class: "note", hidden: true});
		document.getElementById("page").replaceChildren(html("header", {}, html("span", {class: "brand"}, "krait"), this.trace, this.profile, this.connection),
			html("main", {}, this.hero, this.warning, section("Now", {class: "panel"}, this.tiles),
				section("Findings", {class: "panel"}, this.counts, this.more, this.list, this.hidden)), announcer);
		this.reset();
		this.connect();
	}

	/* Of another run nothing is known yet. */
	reset() {
		Object.assign(this, {state: null, end: null, last: 0, waiting: [], timer: 0});
		this.list.replaceChildren();
		this.show();
	}

	/* ---- messages ---- */

	connect() {
		const source = new EventSource("events"), on = (name, act) => source.addEventListener(name, (event) => act(JSON.parse(event.data)));
		source.onopen = () => this.say("live", "live");
		source.onerror = () => {
			if (this.end)
				return;
			this.say("lost", "connection lost, trying again");
			if (source.readyState === EventSource.CLOSED) // the browser gave it up
				setTimeout(() => this.connect(), PATIENCE);
		};
		on("state", (state) => this.takeState(state));
		on("more", (finding) => this.takeFinding(finding));
		on("end", (end) => {
			source.close();
			this.end = end;
			this.say("over", ENDS[end.how]);
			this.show();
			this.showFound();
			announce(this.title.textContent);
		});
	}

	say(name, text) {
		this.connection.className = `connection ${name}`;
		this.connection.textContent = text;
	}

	takeState(state) {
		if (this.state && this.state.began !== state.began)
			this.reset();
		this.state = state;
		this.show();
	}

	/* A browser that comes again may be told again. */
	takeFinding(finding) {
		if (finding.number <= this.last)
			return;
		this.last = finding.number;
		this.waiting.push(finding);
		if (this.waiting.length > SHOWN)
			this.waiting.shift();
		this.timer ||= setTimeout(() => this.showFound(), MOMENT);
	}

	/* ---- findings ---- */

	/* While somebody reads an explanation nothing moves. */
	reads() {
		return this.list.querySelector("details[open]") !== null;
	}

	showFound() {
		clearTimeout(this.timer);
		this.timer = 0;
		if (this.reads())
			this.showMore();
		else
			this.showFindings();
	}

	showMore() {
		this.more.hidden = this.waiting.length === 0;
		this.more.textContent = `Show ${count(this.waiting.length, "new finding")}`;
		if (this.waiting.length > 0)
			announce(`${count(this.waiting.length, "new finding")}`);
		this.showHidden();
	}

	showFindings() {
		const found = this.waiting.splice(0).reverse();
		this.list.prepend(...found.map((finding) => this.item(finding)));
		while (this.list.children.length > SHOWN)
			this.list.lastChild.remove();
		if (found.length > 0)
			announce(found.length === 1 ? `Found: ${found[0].says}` : `${count(found.length, "new finding")}`);
		this.showMore();
	}

	item(finding) {
		const {number: n, mechanism, line, at} = finding, name = `${mechanism} ${finding.class}`;
		const place = `${number(n)}. at ${clock(at)}${line > 0 ? `, line ${number(line)}` : ""}`;
		return html("li", {"data-finding": n}, unfolding([html("span", {class: `chip ${mechanism}`}, name), finding.says, html("span", {class: "place"}, place)],
			() => html("pre", {tabindex: 0}, finding.explanation)));
	}

	showHidden() {
		const missing = Math.max(this.last, this.total()) - this.list.children.length - this.waiting.length;
		this.hidden.hidden = missing <= 0;
		this.hidden.textContent = `${count(missing, "finding")} not shown here: the page has the last ${number(SHOWN)}, krait has printed all.`;
	}

	/* ---- state ---- */

	total() {
		return Object.values(this.state?.findings ?? {}).reduce((sum, n) => sum + n, 0);
	}

	show() {
		const state = this.state, total = this.total();
		this.trace.textContent = state?.trace ?? "";
		this.profile.textContent = state?.profile ?? "";
		this.profile.hidden = !state?.profile;
		document.title = `${total > 0 ? `(${number(total)}) ` : ""}${state?.trace ?? "live"} - krait`;
		this.showHero(total);
		this.showLate();
		this.counts.replaceChildren(...(total === 0 ? [html("li", {class: "empty"}, this.end ? "There are none." : "None so far. They appear here as soon as nothing that is still to come can change them.")]
			: Object.entries(MECHANISMS).filter(([mechanism]) => mechanism !== "SESSION" || state.findings.SESSION > 0).map(([mechanism, name]) => html("li", {}, html("span", {class: `chip ${mechanism}`}, mechanism), ` ${name} `, strong(number(state.findings[mechanism] ?? 0))))));
		this.showHidden();
		if (state)
			this.showTiles(state);
	}

	showHero(total) {
		const {state, end} = this, profile = state?.profile ?? "the profile", watched = `${count(state?.txns ?? 0, "transaction")}`;
		this.hero.className = `hero ${end?.how === "failed" || state?.trusted === false ? "unknown" : total > 0 ? "violated" : "watching"}`;
		this.badge.textContent = end ? ENDS[end.how] : state?.lines ? "watching" : "waiting";
		if (!state?.lines && !end) {
			this.title.textContent = state ? "Waiting for the first event" : "Waiting for krait";
			this.sentence.textContent = state ? "" : "This page shows what a running krait tells it.";
			return;
		}
		this.title.textContent = total > 0 ? count(total, "finding") : end ? "Nothing found" : "Nothing found so far";
		this.sentence.replaceChildren(...[end?.why ? `${end.why}. ` : "", total === 0 ? `In ${watched} nothing was seen that ${profile} rules out, which is no proof.`
			: state.trusted ? `The database did what ${profile} rules out: no placement of instants explains what clients saw.`
				: `What clients told cannot be under ${profile}; but before that something had come too late, so that it may be no fault of the database.`].map(isolated));
	}

	showLate() {
		const late = this.state?.late ?? 0;
		this.warning.hidden = late === 0;
		if (late > 0)
			this.warning.replaceChildren(html("h2", {}, "Late data"), html("p", {}, strong(count(late, "event")), ` came after the watermark had passed. What is found of instants after ${
				this.state.trusted_until ?? "them"} is not to be trusted.`));
	}

	/* ---- tiles ---- */

	makeTiles() {
		this.tile = {};
		this.tiles = html("dl", {class: "tiles"}, Object.entries({rate: "Transactions a second", watermark: "Watermark", open: "Open transactions", versions: "Versions alive",
			locks: "Locks alive", memory: "Memory"}).map(([name, title]) => {
			const value = html("dd", {class: "value"}, "\u2013"), note = html("dd", {class: "note"});
			this.tile[name] = {value, note};
			return html("div", {class: "tile", "data-tile": name}, html("dt", {}, title), value, note);
		}));
		this.spark = svg("svg", {class: "spark", role: "img", preserveAspectRatio: "none", viewBox: "0 0 60 20"});
		this.tile.rate.value.after(html("dd", {}, this.spark));
	}

	put(name, value, ...note) {
		this.tile[name].value.replaceChildren(...[value].flat());
		this.tile[name].value.classList.toggle("long", value.length > 14);
		this.tile[name].note.replaceChildren(...note.filter(Boolean).map(isolated));
	}

	showTiles(state) {
		const rate = this.end ? state.txns / Math.max(0.001, state.elapsed) : state.rate, rounded = rate < 10 ? Math.round(rate * 10) / 10 : Math.round(rate);
		this.put("rate", number(rounded), this.end ? "on the average; " : "", `${number(state.txns)} ended, ${count(state.lines, "line")} read`);
		this.showSpark(state.ended);
		this.showWatermark(state);
		this.put("open", number(state.open), ...(state.oldest === undefined ? [] : ["the oldest: ", strong(state.oldest),
			state.oldest_session === undefined ? "" : ` of session ${state.oldest_session}`, `, since ${state.since}`]));
		this.put("versions", number(state.versions), `in the last round; ${count(state.held, "transaction")} held whole`);
		this.put("locks", number(state.locks), "in the last round");
		this.put("memory", [number(state.mib), html("small", {}, "MiB")], state.limit === undefined ? "" : `of ${number(state.limit)} MiB`);
	}

	showWatermark(state) {
		const {watermark, holder, behind} = state, held = holder === undefined ? ["no session holds it"] : ["held by session ", strong(holder)];
		if (watermark !== null)
			this.put("watermark", watermark, ...held, behind === undefined ? "" : `, ${behind} behind the newest time`);
		else if (this.end || state.lines === 0)
			this.put("watermark", "\u2013", this.end ? "the input has ended" : "nothing has come yet");
		else
			this.put("watermark", "\u2013", ...(holder === undefined ? ["any time may still come: nothing is looked at before the end"] : ["nothing was heard of session ", strong(holder)]));
	}

	/* A bar for each second, the present one on the right. */
	showSpark(ended) {
		const most = Math.max(1, ...ended), left = 60 - ended.length;
		this.spark.setAttribute("aria-label", `in each of the last ${count(ended.length, "second")}, ${number(most)} at most`);
		this.spark.replaceChildren(svg("line", {x1: 0, x2: 60, y1: 20, y2: 20}), ...ended.map((n, i) => svg("rect", {x: left + i + 0.1, width: 0.8, y: 20 - (20 * n) / most, height: (20 * n) / most})));
	}
}

window.addEventListener("DOMContentLoaded", () => new Live());
