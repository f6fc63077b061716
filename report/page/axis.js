/* The axis of the timeline: where a time stands. Folded, what lies between the transactions that matter is pressed into narrow strips; each strip and each window between two
 * is linear, so that places can be turned back into times. */

class Axis {
	/* windows: [[from, to]...], sorted and apart; none: everything is shown alike */
	constructor(last, windows) {
		this.points = [{t: 0, u: 0}];
		this.folds = [];
		const all = windows.reduce((sum, [from, to]) => sum + to - from, 0) || last, strip = all * 0.08, least = all * 0.12;
		const push = (t, wide) => {
			const before = this.points.at(-1);
			if (t > before.t)
				this.points.push({t, u: before.u + wide});
		};
		for (const [from, to] of windows) {
			this.fold(from, strip, push);
			push(to, Math.max(to - from, least));
		}
		if (windows.length > 0)
			this.fold(last, strip, push);
		else
			push(last, last);
		this.last = this.points.at(-1).u;
	}

	fold(to, strip, push) {
		const from = this.points.at(-1);
		if (to <= from.t)
			return;
		push(to, strip);
		this.folds.push({from: from.t, to});
	}

	map(value, key, other) {
		const points = this.points;
		let low = 0, high = points.length - 1;
		while (high - low > 1) {
			const middle = (low + high) >> 1;
			if (points[middle][key] <= value)
				low = middle;
			else
				high = middle;
		}
		const a = points[low], b = points[high] ?? a;
		return b[key] === a[key] ? a[other] : a[other] + ((value - a[key]) / (b[key] - a[key])) * (b[other] - a[other]);
	}

	place(t) {
		return this.map(t, "t", "u");
	}

	time(u) {
		return this.map(u, "u", "t");
	}

	/* Round times, about `apart` pixels from each other and `least` at least, from one to another; folds have none. x: the pixel of a time; origin: what time 0 stands for. */
	*ticks(x, from, to, apart, least, origin = 0) {
		for (let i = 1; i < this.points.length; i++) {
			const a = this.points[i - 1].t, b = this.points[i].t;
			if (this.folds.some((fold) => fold.from === a))
				continue;
			const per = ((b - a) / Math.max(x(b) - x(a), 1e-9)) * apart, power = 10 ** Math.floor(Math.log10(per));
			const step = Math.max(least, power * ([1, 2, 5].find((k) => k * power >= per) ?? 10)), last = Math.min(b, to);
			for (let t = Math.ceil((Math.max(a, from) + origin) / step) * step - origin; t <= last; t += step)
				yield t;
		}
	}

	/* Windows around the transactions that matter; none when they fill most of the trace anyway. */
	static windows(trace, lit) {
		const spans = lit.map((t) => [trace.start[t], trace.stop[t]]).sort((a, b) => a[0] - b[0]);
		if (spans.length === 0)
			return [];
		const lengths = spans.map(([from, to]) => to - from).sort((a, b) => a - b);
		const pad = Math.max(lengths[lengths.length >> 1], trace.last * 1e-9) * 1.2, windows = [];
		for (const [from, to] of spans) {
			const start = Math.max(0, from - pad), stop = Math.min(trace.last, to + pad), before = windows.at(-1);
			if (before && start <= before[1] + pad)
				before[1] = Math.max(before[1], stop);
			else
				windows.push([start, stop]);
		}
		const covered = windows.reduce((sum, [from, to]) => sum + to - from, 0);
		return covered > trace.last * 0.6 ? [] : windows;
	}

	/* Windows around instants, sorted; none where they stand far enough from each other to be told apart. */
	static around(instants, last) {
		const gaps = instants.slice(1).map((t, i) => ({from: instants[i], to: t})), lengths = gaps.map((gap) => gap.to - gap.from).sort((a, b) => a - b);
		const usual = lengths[lengths.length >> 1] ?? last, folds = usual > last * 0.015 ? [] : gaps.filter((gap) => gap.to - gap.from > usual * 12);
		const ends = [0, ...folds.flatMap(({from, to}) => [from, to]), last], pad = usual * 2, windows = [];
		for (let i = 0; i < ends.length && folds.length > 0; i += 2)
			windows.push([Math.max(0, ends[i] - (i > 0 ? pad : 0)), Math.min(last, ends[i + 1] + (i + 2 < ends.length ? pad : 0))]);
		return windows;
	}
}
