/* Finds transactions by name, and by a key or value in their operations. */

const FOUND_MOST = 60;

class Search {
	constructor(trace, pick) {
		Object.assign(this, {trace, pick});
		this.input = html("input", {type: "search", placeholder: "Find a transaction, key or value", "aria-label": "Find a transaction, key or value", oninput: () => this.later()});
		this.list = html("ul", {class: "found", "aria-live": "polite"});
		this.element = html("div", {class: "search", role: "search"}, this.input, this.list);
	}

	later() {
		clearTimeout(this.waiting);
		this.waiting = setTimeout(() => this.find(this.input.value.trim()), 150);
	}

	/* What is named so comes first, then who reads or writes it, then names with it inside. */
	async find(text) {
		const trace = this.trace;
		if (text === "") {
			this.list.replaceChildren();
			return;
		}
		await trace.load();
		if (text !== this.input.value.trim())
			return;
		const token = new RegExp(`(?:^|[\\s\\[{(,:"])${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?=$|[\\s\\]}),:"])`), named = [], used = [], inside = [];
		for (let t = 0; t < trace.n; t++) {
			if (trace.ids[t] === text)
				named.push(t);
			else if (trace.texts !== undefined && t < trace.texts.length && trace.texts[t].split("\n").some((op) => token.test(op.replace(/^\S+ /, ""))))
				used.push(t);
			else if (trace.ids[t].includes(text))
				inside.push(t);
		}
		this.show([...named, ...used, ...inside], token);
	}

	show(found, token) {
		const trace = this.trace;
		this.list.replaceChildren(...found.slice(0, FOUND_MOST).map((t) => {
			const ops = (trace.operations(t) ?? []).filter((op) => token.test(op.replace(/^\S+ /, "")));
			return html("li", {}, html("button", {type: "button", class: "link", onclick: () => this.pick(t)}, clip(trace.ids[t], 40)),
				ops.length > 0 ? html("code", {}, ` ${clip(ops.join(", "), 80)}`) : null);
		}), html("li", {class: "note"}, found.length === 0 ? "Nothing has it." : found.length > FOUND_MOST ? `and ${number(found.length - FOUND_MOST)} more` : count(found.length, "transaction")));
	}
}
