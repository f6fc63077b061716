/* Making texts and elements. Children are elements or texts. */

const NARROW = matchMedia("(max-width: 35rem)");

const number = (n) => n.toLocaleString("en-US", {maximumFractionDigits: 9});
const count = (n, what) => `${number(n)} ${what}${n === 1 ? "" : "s"}`;

/* Names and values that run from right to left turn nothing around them. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+/g;
const isolated = (child) => (typeof child === "string" ? child.replace(RIGHT_TO_LEFT, "\u2068$&\u2069") : child);

function fill(element, attributes, children) {
	for (const [name, value] of Object.entries(attributes ?? {})) {
		if (value === undefined || value === null || value === false)
			continue;
		if (name.startsWith("on"))
			element.addEventListener(name.slice(2), value);
		else
			element.setAttribute(name, value === true ? "" : value);
	}
	element.append(...children.flat().filter((child) => child !== undefined && child !== null).map(isolated));
	return element;
}

const html = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/* Enter and Space do what a click does. */
const pressable = (act) => ({
	tabindex: 0,
	role: "button",
	onclick: act,
	onkeydown: (event) => {
		if (event.key !== "Enter" && event.key !== " ")
			return;
		event.preventDefault();
		act(event);
	},
});

/* A section with a heading, which names it. */
let headings = 0;
function section(title, attributes, ...children) {
	const id = `heading-${headings++}`;
	return html("section", {"aria-labelledby": id, ...attributes}, html("h2", {id}, title), ...children);
}

/* What opens and closes; its content is made when it is first opened. */
function unfolding(summary, make) {
	const details = html("details", {}, html("summary", {}, summary));
	details.addEventListener("toggle", () => {
		if (details.open && details.children.length === 1)
			details.append(...[make()].flat());
	});
	return details;
}

/* The head of the page: which trace, and facts of it (null: none). */
function drawHeader(traces, trace, facts, show) {
	const name = traces.length < 2 ? html("span", {class: "trace"}, trace?.trace ?? "")
		: html("select", {"aria-label": "Trace", onchange: (event) => show(traces[event.target.selectedIndex])},
			traces.map((one) => html("option", {selected: one === trace}, `${one.trace}${one.error ? " (no verdict)" : one.violated ? " (violated)" : ""}`)));
	return html("header", {}, html("span", {class: "brand"}, "krait"), name, html("ul", {class: "facts"}, facts.filter(Boolean).map((fact) => html("li", {}, fact))));
}

const drawBadge = (shown) => html("p", {class: "badge"}, html("span", {"aria-hidden": "true"}, `${shown.mark} `), shown.title);

function drawNothing(trace) {
	const error = trace?.error;
	return html("section", {class: "hero unknown"}, html("h1", {}, error ? "This trace got no verdict" : "There is no verdict here"), error ? html("p", {class: "sentence"}, error) : null);
}

/* Says something to screen readers without moving the focus. */
const announcer = html("p", {class: "unseen", role: "status", "aria-live": "polite"});
const announce = (text) => {
	announcer.textContent = text;
};
