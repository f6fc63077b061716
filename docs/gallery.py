#!/usr/bin/env python3
"""Writes docs/gallery.md: every bundled trace with a story, its verdict at the main levels and its report, as the program says them.

    docs/gallery.py [--check]

KRAIT names the program (default: build/dev/bin/krait). --check writes nothing and fails when the page is out of date. A report that does not fit on a
screen is an error: whoever reads only it must see which transactions conflict on which keys, and why.

A story is traces/NAME/story: a title, the lines "level: ID" (of the report), "source: WHERE" and, where needed, "checker: NAME", an empty line, and the text."""
import glob
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KRAIT = os.path.abspath(os.environ.get("KRAIT", f"{ROOT}/build/dev/bin/krait"))
PAGE = f"{ROOT}/docs/gallery.md"
SCREEN = (45, 100)  # lines, columns
LEVELS = [("pl-1", "PL-1"), ("pl-2", "PL-2"), ("rc-ax", "RC"), ("ra", "RA"), ("cc", "CC"), ("psi", "PSI"), ("pc", "PC"), ("si", "SI"),
          ("strong-session-snapshot-isolation", "SI, sessions"), ("pl-2.99", "PL-2.99"), ("ser", "SER"), ("strong-session-serializable", "SER, sessions"), ("pl-ss", "strict")]

HEAD = """# Bugs of real databases

Small histories of bugs that were reported in public or, where it says so, recorded with krait, reduced to the transactions that matter: what went wrong, at which levels it can be told, and what krait
says of it. `docs/gallery.py` writes this page from `traces/*/story` and the program itself. ✗ is violated, · satisfied; RC, RA, CC, PSI and PC count session
order ([levels](levels.md)), strict is strict serializability.
"""


def krait(*arguments):
    return subprocess.run([KRAIT, *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout


def read_story(path):
    with open(path, encoding="utf-8") as file:
        head, text = file.read().split("\n\n", 1)
    title, *fields = head.split("\n")
    return {"title": title, "text": text, "trace": os.path.relpath(f"{os.path.dirname(path)}/trace.jsonl", ROOT), **dict(f.split(": ", 1) for f in fields)}


def verdicts(story):
    found = [json.loads(line)["verdict"] for line in krait("check", "--json", "-l", ",".join(level for level, _ in LEVELS), story["trace"]).splitlines()]
    assert len(found) == len(LEVELS) and "unknown" not in found, story["trace"]
    row = " | ".join("✗" if verdict == "violated" else "·" for verdict in found)
    return f"| {' | '.join(name for _, name in LEVELS)} |\n|{'---|' * len(LEVELS)}\n| {row} |\n"


def report(story):
    text = krait("check", "--explain", "-l", story["level"], *(["--checker", story["checker"]] if "checker" in story else []), story["trace"])
    lines = text.splitlines()
    assert len(lines) <= SCREEN[0] and max(map(len, lines)) <= SCREEN[1], (story["trace"], len(lines), max(map(len, lines)))
    return text.replace("\t", "  ")


def section(story):
    with open(f"{ROOT}/{story['trace']}", encoding="utf-8") as file:
        trace = file.read()
    return (f"\n## {story['title']}\n\n{story['text']}\nSource: {story['source']}.\n\n{verdicts(story)}\n"
            f"`{story['trace']}`:\n\n```json\n{trace}```\n\n```text\n{report(story)}```\n")


def anchor(title):
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def page():
    stories = sorted((read_story(path) for path in glob.glob(f"{ROOT}/traces/*/story")), key=lambda s: s["title"].lower())
    told = {os.path.basename(os.path.dirname(story["trace"])) for story in stories}
    assert all(os.path.basename(bug) in told for bug in glob.glob(f"{ROOT}/traces/bug-*")), "a bug without a story"
    contents = "".join(f"- [{s['title']}](#{anchor(s['title'])})\n" for s in stories)
    return HEAD + "\n" + contents + "".join(map(section, stories))


def main():
    text = page()
    if "--check" not in sys.argv[1:]:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(text)
        return
    with open(PAGE, encoding="utf-8") as file:
        if file.read() != text:
            sys.exit("docs/gallery.md is out of date: run docs/gallery.py")


if __name__ == "__main__":
    main()
