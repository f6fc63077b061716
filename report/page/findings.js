/* The page of findings: what a trace was held to, what was found, and each finding that is shown in full, drawn when it is unfolded. */

const findingName = (one) => `${one.mechanism} ${one.class}`;
const KINDS_OF = {CR: "consistent read", ME: "mutual exclusion", FUW: "first updater wins", SC: "serialization certifier", SESSION: "session order"};

class FindingsPage {
	constructor(data) {
		this.data = data;
		this.root = document.getElementById("page");
		this.show(data.traces.find((trace) => trace.violated) ?? data.traces[0]);
	}

	show(held) {
		this.held = held;
		this.only = null;
		document.title = `${held.profile ?? "no verdict"}${held.violated ? " violated" : ""}: ${held.trace} - krait`;
		const facts = [held.profile, held.looked];
		const header = drawHeader(this.data.traces, held, facts, (one) => this.show(one));
		if (!held.profile) {
			this.root.replaceChildren(header, html("main", {}, drawNothing(held)), announcer);
			return;
		}
		this.list = html("div", {class: "findings"});
		this.root.replaceChildren(header, html("main", {}, ...[this.hero(), this.filters(), this.list].filter(Boolean)), announcer);
		this.fill();
	}

	hero() {
		const held = this.held, shown = VERDICTS[held.violated ? "violated" : "unknown"], total = held.found.reduce((sum, one) => sum + one.count, 0);
		const sentence = held.violated ? `${count(total, "finding")}: ${held.found.map((one) => `${findingName(one)}${total > one.count ? ` ${number(one.count)}` : ""}`).join(", ")}.`
			: held.looked ? `Nothing was found in ${held.looked}. That is no proof.` : null;
		const more = held.found.filter((one) => one.count > held.most);
		const notes = [
			held.error ? `Not all is shown: ${held.error}.` : null,
			more.length > 0 ? `Of each class the first ${number(held.most)} are shown in full; counted only: ${more.map((one) => `${number(one.count - held.most)} more of ${findingName(one)}`).join(", ")}.` : null,
			held.skew !== "0" ? `Clocks may differ by ${held.skew}${held.time_unit ? ` ${held.time_unit}` : ""}: every interval is taken as longer by half of that on both sides, which thin lines show.` : null,
		].filter(Boolean);
		return html("section", {class: `hero ${held.violated ? "violated" : "unknown"}`}, drawBadge(shown), html("h1", {}, held.profile, html("span", {class: "anomaly"}, held.title)),
			sentence ? html("p", {class: "sentence"}, sentence) : null, notes.map((note) => html("p", {class: "note"}, `Note: ${note}`)),
			held.violated ? html("p", {class: "definition"}, held.stamps ? "Each finding contradicts the timestamps that the database told."
				: "Of each finding it holds that no placement of instants within the intervals that clients saw lets the mechanism be right.") : null);
	}

	/* Which class is listed. */
	filters() {
		const names = [...new Set(this.held.findings.map(findingName))];
		if (names.length < 2)
			return null;
		const button = (name, text) => html("button", {type: "button", "aria-pressed": String(this.only === name), onclick: (event) => {
			this.only = name;
			for (const one of event.currentTarget.parentElement.children)
				one.setAttribute("aria-pressed", String(one === event.currentTarget));
			this.fill();
		}}, text);
		return html("div", {class: "cases", role: "group", "aria-label": "Which findings"}, button(null, "All"),
			names.map((name) => button(name, `${name} ${number(this.held.findings.filter((one) => findingName(one) === name).length)}`)));
	}

	fill() {
		const shown = this.held.findings.filter((one) => this.only === null || findingName(one) === this.only);
		this.list.replaceChildren(...shown.map((one) => this.item(one)));
		if (this.list.firstChild)
			this.list.firstChild.open = true;
	}

	item(finding) {
		const summary = html("span", {class: "line"}, html("span", {class: "chip", title: KINDS_OF[finding.mechanism]}, findingName(finding)), html("span", {}, finding.why));
		const item = unfolding(summary, () => this.parts(finding));
		item.className = "panel finding";
		return item;
	}

	parts(finding) {
		const lines = finding.gaps.filter((gap) => finding.edges.length === 0 && !gap.basis), basis = finding.gaps.filter((gap) => finding.edges.length === 0 && gap.basis);
		const chart = new Lanes(this.held, finding), unit = this.held.time_unit ? ` (times in ${this.held.time_unit})` : "";
		return [
			lines.length > 0 ? html("p", {class: "gaps"}, lines.map((gap) => html("code", {class: "wrong"}, gap.text)), basis.map((gap) => html("code", {}, gap.text))) : null,
			finding.edges.length > 0 ? this.cycle(finding) : null,
			chart.element,
			chart.relative ? html("p", {class: "label"}, `On the axis, +0 is ${chart.first}.`) : null,
			html("p", {class: "label"}, `In words${unit}`),
			html("pre", {tabindex: 0}, finding.text),
		].filter(Boolean);
	}

	/* The certifier's cycle, drawn as those of levels are; below it what each edge rests on. */
	cycle(finding) {
		const {lanes, edges, gaps} = finding, seen = {
			ids: lanes.map((lane) => lane.name),
			status: lanes.map((lane) => lane.status),
			line: lanes.map((lane) => lane.line),
			sessionName: (t) => (lanes[t].session === undefined ? "no session" : `session ${lanes[t].session}`),
			place: (t) => `line ${lanes[t].line}`,
		};
		const cast = lanes.map((lane, txn) => ({txn, ops: lane.statements.length, shown: lane.statements.map((one, op) => ({op, text: one.text}))}));
		const say = (i) => announce(`${edges[i].why}.`);
		const graph = new Graph(seen, {cast}, edges, {room: Math.min(760, window.innerWidth - 90), supposed: () => false, open: () => false, toggle: say, pick: (t) => announce(`${lanes[t].name}: ${lanes[t].id}`)});
		return html("div", {}, html("div", {class: "scroll graph"}, graph.draw()), html("ul", {class: "reasons plain"}, edges.map((edge, i) => {
			const gap = gaps.find((one) => one.edge === i);
			return html("li", {}, html("span", {class: `chip ${edge.kind}`}, edgeName(edge)), ` ${edge.why}`, gap ? html("code", {class: "rests"}, gap.text) : null);
		})));
	}
}
