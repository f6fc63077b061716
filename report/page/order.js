/* The order that proves a satisfied level, as a list of which only the visible part exists: 100,000 rows cost as much as 20. */

const ORDER_ROW = 26;
const FORMS = {
	order: "One after the other, in this order, these transactions read what they read.",
	snapshots: "Each transaction reads the state at its start and writes at its commit, in this order.",
	world: "With commits in this order, every read has a source that the level allows.",
};

function drawOrder(trace, verdict, pick) {
	const order = verdict.order_found, seen = new Set();
	const words = order.map((t) => {
		if (verdict.form !== "snapshots")
			return "";
		const first = !seen.has(t);
		seen.add(t);
		return first ? "starts" : "commits";
	});
	const rows = html("div", {class: "rows", role: "list"});
	const scroller = html("div", {class: "order", tabindex: 0, role: "region", "aria-label": `The order of ${count(order.length, "step")}`}, rows);
	rows.style.height = `${order.length * ORDER_ROW}px`;
	scroller.style.height = `${Math.min(order.length, 14) * ORDER_ROW + 2}px`;
	const show = () => {
		const first = Math.max(0, Math.floor(scroller.scrollTop / ORDER_ROW) - 4), end = Math.min(order.length, first + 26);
		rows.replaceChildren();
		for (let i = first; i < end; i++) {
			const t = order[i];
			const row = html("div", {class: "row", role: "listitem", "aria-setsize": order.length, "aria-posinset": i + 1},
				html("span", {class: "place"}, number(i + 1)), html("button", {type: "button", class: "link", onclick: () => pick(t)}, clip(trace.ids[t], 40)),
				words[i] ? html("span", {}, words[i]) : null, html("span", {class: "place"}, trace.sessionName(t)));
			row.style.top = `${i * ORDER_ROW}px`;
			rows.append(row);
		}
	};
	scroller.addEventListener("scroll", show, {passive: true});
	show();
	return section("An order that explains every read", {class: "panel"}, html("p", {}, order.length === 0 ? "No transaction took effect, so there is nothing to order."
		: FORMS[verdict.form]), order.length > 0 ? scroller : null);
}
