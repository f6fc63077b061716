/* The order that proves a satisfied level, as a list of which only the visible part exists: 100,000 rows cost as much as 20. Behind each transaction stand its operations, and behind
 * what it read who had written that. */

const ORDER_ROW = 26;
const FORMS = {
	order: "One after the other, in this order, these transactions read what they read.",
	snapshots: "Each transaction reads the state at its start and writes at its commit, in this order.",
	world: "With commits in this order, every read has a source that the level allows.",
};
const WRITES = new Set(["w", "d", "insert", "inc", "append", "add"]), READS = new Set(["r"]);

/* Kind and key of an operation's text. */
function wordsOf(op) {
	const kind = op.slice(0, (op.indexOf(" ") + 1 || op.length + 1) - 1), rest = op.slice(kind.length + 1);
	const key = rest.startsWith("\"") ? /^"(?:[^"\\]|\\.)*"/.exec(rest)?.[0] : rest.split(" ", 1)[0];
	return {kind, key};
}

/* Who had written what each read saw: by place in the order, and operation. A world tells it; else it is the last one before that wrote the key. Null where
 * conditions on rows, or writes that may have failed, leave open what was written. */
class Sources {
	constructor(trace, verdict) {
		this.told = null;
		if (verdict.form === "world") {
			this.told = new Map((verdict.sources ?? []).map(([t, op, writer]) => [`${t} ${op}`, writer]));
			return;
		}
		this.told = new Map();
		const last = new Map(), started = new Set();
		for (const t of verdict.order_found) {
			const ops = trace.operations(t)?.map(wordsOf), reads = verdict.form !== "snapshots" || !started.has(t), writes = verdict.form !== "snapshots" || started.has(t);
			started.add(t);
			if (!ops || ops.some(({kind}) => !WRITES.has(kind) && !READS.has(kind) && kind !== "range" && kind !== "scan")) {
				this.told = null;
				return;
			}
			const own = new Set();
			ops.forEach(({kind, key}, i) => {
				if (reads && READS.has(kind) && !own.has(key))
					this.told.set(`${t} ${i}`, last.get(key) ?? -1);
				if (WRITES.has(kind))
					own.add(key);
			});
			if (writes)
				own.forEach((key) => last.set(key, t));
		}
	}

	text(trace, t, i) {
		const writer = this.told?.get(`${t} ${i}`);
		return writer === undefined ? "" : ` \u2190 ${writer < 0 ? "initial" : clip(trace.ids[writer], 24)}`;
	}
}

const SOURCES_MOST = 300000; /* steps of an order, beyond which who wrote what is not worked out */

function stepWords(verdict) {
	const seen = new Set();
	return verdict.order_found.map((t) => {
		if (verdict.form !== "snapshots")
			return "";
		const first = !seen.has(t);
		seen.add(t);
		return first ? "starts" : "commits";
	});
}

/* Of a transaction that starts what it reads, of one that commits what it writes. */
function stepOps(trace, sources, t, word) {
	return (trace.operations(t) ?? []).map((op, i) => ({op, i, write: WRITES.has(wordsOf(op).kind)})).filter(({write}) => word === "" || write === (word === "commits"))
		.map(({op, i}) => op + (sources ? sources.text(trace, t, i) : ""));
}

function drawOrder(trace, verdict, pick) {
	const order = verdict.order_found, words = stepWords(verdict);
	let sources = null;
	const rows = html("div", {class: "rows", role: "list"});
	const scroller = html("div", {class: "order", tabindex: 0, role: "region", "aria-label": `The order of ${count(order.length, "step")}`}, rows);
	rows.style.height = `${order.length * ORDER_ROW}px`;
	scroller.style.height = `${Math.min(order.length, 14) * ORDER_ROW + 2}px`;
	const show = () => {
		const first = Math.max(0, Math.floor(scroller.scrollTop / ORDER_ROW) - 4), end = Math.min(order.length, first + 26);
		rows.replaceChildren();
		for (let i = first; i < end; i++) {
			const t = order[i], ops = stepOps(trace, sources, t, words[i]).join(", ");
			const row = html("div", {class: "row", role: "listitem", "aria-setsize": order.length, "aria-posinset": i + 1},
				html("span", {class: "place"}, number(i + 1)), html("button", {type: "button", class: "link", onclick: () => pick(t)}, clip(trace.ids[t], 40)),
				words[i] ? html("span", {}, words[i]) : null, html("code", {class: "does", title: ops}, clip(ops, 240)), html("span", {class: "place session"}, trace.sessionName(t)));
			row.style.top = `${i * ORDER_ROW}px`;
			rows.append(row);
		}
	};
	scroller.addEventListener("scroll", show, {passive: true});
	show();
	trace.load().then(() => {
		sources = order.length <= SOURCES_MOST ? new Sources(trace, verdict) : null;
		show();
	});
	return section("An order that explains every read", {class: "panel"}, html("p", {}, order.length === 0 ? "No transaction took effect, so there is nothing to order."
		: `${FORMS[verdict.form]} Behind what was read stands who wrote it (\u2190).`), order.length > 0 ? scroller : null);
}
