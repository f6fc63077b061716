#!/usr/bin/env python3
"""Draws the pictures of README.md from what the program prints of bundled traces: a report as it stands on a terminal, and cycles as graphs.

    docs/pictures.py [--check]

KRAIT names the program (default: build/dev/bin/krait). --check draws nothing and fails when a picture is out of date. The pictures are SVG that nothing but this
script and the program had a part in, so that they can be compared."""
import html
import json
import math
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KRAIT = os.path.abspath(os.environ.get("KRAIT", f"{ROOT}/build/dev/bin/krait"))
MONO = "DejaVu Sans Mono, Menlo, Consolas, monospace"
SANS = "DejaVu Sans, Helvetica, Arial, sans-serif"
KINDS = {"wr": "#c000a5", "ww": "#c02700", "rw": "#5b00c0", "so": "#3c7a00", "rt": "#0050a0"}  # as in --dot, after Elle
CELL = (8.4, 18)  # of a character


def krait(*arguments):
    return subprocess.run([KRAIT, *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout


def svg(width, height, body):
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}">\n{body}</svg>\n'


# ---- a terminal ----

COLOURS = [(r"^\$ .*", "#8bd5ff"), (r"\bviolated\b", "#ff8a80"), (r"\bsatisfied\b", "#a5d6a7"), (r"^(Let|Then|Assumed|Levels).*:$", "#ffd54f"), (r"^  [\w-]+ = ", "#8bd5ff"),
           (r"a contradiction!", "#ff8a80")]


def coloured(line):
    spans, at = "", 0
    found = sorted((m.start(), m.end(), colour) for pattern, colour in COLOURS for m in re.finditer(pattern, line))
    for start, end, colour in found:
        if start < at:
            continue
        spans += html.escape(line[at:start]) + f'<tspan fill="{colour}">{html.escape(line[start:end])}</tspan>'
        at = end
    return re.sub("  +|^ ", lambda blanks: "\u00a0" * len(blanks[0]), spans + html.escape(line[at:]))


def terminal(*arguments):
    lines = [f"$ krait {' '.join(arguments)}"] + krait(*arguments).expandtabs(8).splitlines()
    width, height = max(map(len, lines)) * CELL[0] + 40, len(lines) * CELL[1] + 52
    body = f'<rect width="100%" height="100%" rx="8" fill="#1d2127"/>\n'
    body += "".join(f'<circle cx="{20 + 18 * i}" cy="18" r="6" fill="{c}"/>\n' for i, c in enumerate(("#ff5f57", "#febc2e", "#28c840")))
    body += f'<g font-family="{MONO}" font-size="14" fill="#e6e6e6">\n'
    body += "".join(f'<text x="20" y="{48 + CELL[1] * i}">{coloured(line)}</text>\n' for i, line in enumerate(lines) if line)
    return svg(width, height, body + "</g>\n")


# ---- a cycle ----

def operations(trace):
    """Per transaction its operations, as they stand in the trace."""
    with open(f"{ROOT}/{trace}", encoding="utf-8") as file:
        objects = [json.loads(line) for line in file]
    return {o["id"]: [f"{op[0]} {op[1]} {json.dumps(op[2])}" for op in o["ops"]] for o in objects if "id" in o}


def edge(e, boxes):
    """An arrow from box to box, bent away from the middle of the picture."""
    (ax, ay), (bx, by) = boxes[e["from"]], boxes[e["to"]]
    mx, my = (ax + bx) / 2, (ay + by) / 2
    length = math.hypot(bx - ax, by - ay)
    nx, ny = (by - ay) / length, (ax - bx) / length
    cx, cy = mx + 46 * nx, my + 46 * ny
    ends = []
    for x, y in ((ax, ay), (bx, by)):
        dx, dy = cx - x, cy - y
        scale = min(88 / abs(dx) if abs(dx) > 1e-6 else 1e9, 40 / abs(dy) if abs(dy) > 1e-6 else 1e9)
        ends.append((x + dx * scale, y + dy * scale))
    (sx, sy), (ex, ey) = ends
    colour, label = KINDS[e["kind"][-2:]], " ".join(filter(None, (e["kind"], e.get("key") and str(e["key"]))))
    lx, ly = mx + 23 * nx, my + 23 * ny
    return (f'<path d="M{sx:.1f},{sy:.1f} Q{cx:.1f},{cy:.1f} {ex:.1f},{ey:.1f}" fill="none" stroke="{colour}" stroke-width="2" marker-end="url(#{e["kind"][-2:]})">'
            f'<title>{html.escape(e["why"])}</title></path>\n'
            f'<text x="{lx:.1f}" y="{ly + 5:.1f}" text-anchor="middle" fill="{colour}" font-weight="bold" stroke="#ffffff" stroke-width="5" paint-order="stroke">{html.escape(label)}</text>\n')


def cycle(level, trace):
    verdict = json.loads(krait("check", "--json", "-l", level, trace))
    edges, ops = verdict["anomaly"]["cycle"], operations(trace)
    n, radius = len(edges), 180
    flat = 0.55 if n > 2 else 0
    width, height = 2 * radius + 260, 2 * radius * flat + 150
    middle = (width / 2, height / 2 + 12)
    boxes = {}
    for i, e in enumerate(edges):
        angle = math.pi + 2 * math.pi * i / n if n != 4 else -3 * math.pi / 4 + math.pi / 2 * i
        boxes[e["from"]] = (middle[0] + radius * math.cos(angle), middle[1] + radius * flat * math.sin(angle))
    body = '<rect width="100%" height="100%" rx="8" fill="#ffffff"/>\n<defs>\n'
    body += "".join(f'<marker id="{k}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto"><path d="M0,0 L10,5 L0,10 z" fill="{c}"/></marker>\n'
                    for k, c in KINDS.items()) + "</defs>\n"
    body += f'<g font-family="{SANS}" font-size="14">\n<text x="{width / 2:.0f}" y="24" text-anchor="middle" font-size="15">{html.escape(verdict["anomaly"]["name"])}: {html.escape(level)} is violated</text>\n'
    for name, (x, y) in boxes.items():
        body += f'<rect x="{x - 88:.1f}" y="{y - 40:.1f}" width="176" height="80" rx="6" fill="#f4f7fb" stroke="#0058ad"/>\n'
        body += f'<text x="{x:.1f}" y="{y - 20:.1f}" text-anchor="middle" font-weight="bold" fill="#0058ad">{html.escape(name)}</text>\n'
        body += "".join(f'<text x="{x:.1f}" y="{y + 17 * j:.1f}" text-anchor="middle" font-family="{MONO}" font-size="12">{html.escape(op)}</text>\n'
                        for j, op in enumerate(ops[name][:3]))
    body += "".join(edge(e, boxes) for i, e in enumerate(edges))
    return svg(width, height, body + "</g>\n")


PICTURES = {
    "report": lambda: terminal("check", "--explain", "traces/bug-tidb-lost-update/trace.jsonl"),
    "write-skew": lambda: cycle("ser", "traces/write-skew/trace.jsonl"),
    "long-fork": lambda: cycle("si", "traces/long-fork/trace.jsonl"),
}


def main():
    stale = []
    for name, draw in PICTURES.items():
        path, text = f"{ROOT}/docs/pictures/{name}.svg", draw()
        if "--check" not in sys.argv[1:]:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            continue
        with open(path, encoding="utf-8") as file:
            if file.read() != text:
                stale.append(f"docs/pictures/{name}.svg")
    if stale:
        sys.exit(f"{', '.join(stale)}: out of date: run docs/pictures.py")


if __name__ == "__main__":
    main()
