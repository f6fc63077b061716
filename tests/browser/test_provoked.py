"""The page of `krait-lab provoke --html` in chromium, of runs on the small database of krait-lab, whose levels are right or broken by construction.

    test_provoked.py NAME...    runs these tests (all: no name); 77: there is no browser here
"""

import os
import subprocess
import sys

from test_findings import OVERLAPS, OUTSIDE, resize
from test_page import HOSTILE, KRAIT, is_quiet
import webdriver
from webdriver import Browser

LETTERS = "return [...document.querySelectorAll('button.cell')].map((e) => [e.getAttribute('aria-label'), e.textContent])"


def make(folder, *options):
    """The page, and the lines that were printed."""
    path = os.path.join(folder, "page.html")
    done = subprocess.run([f"{KRAIT}-lab", "provoke", "-o", os.path.join(folder, "traces"), "--html", path, *options], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return path, [line.split("\t") for line in done.stdout.split("\n\n")[0].splitlines()]


def pick(browser, start):
    assert browser.run("const b = [...document.querySelectorAll('button.cell')].find((e) => e.getAttribute('aria-label').startsWith(arguments[0])); b?.click(); return Boolean(b)", start), start
    browser.settle()
    browser.settle()


def test_provoked_cells(folder):
    """Every cell is there with its letter; what a level lets through stands above; a cell shows statements, lanes, pairs and orders."""
    path, lines = make(folder, "-d", "sim", "-l", "si,dirty", "01", "21a", "28", "31", "p31o")
    with Browser() as browser:
        browser.open(path)
        browser.settle()
        shown = {tuple(label.split(":")[0].rsplit(" at ", 1)): letter for label, letter in browser.run(LETTERS)}
        assert {(name.split(" ")[0], level): letter for (name, level), letter in shown.items()} == {(case, level): letter for case, level, letter, _ in lines}
        allowed = [item.split(" lets ") for item in browser.run("return [...document.querySelectorAll('.allows li')].map((e) => e.textContent)")]
        for level, said in allowed:
            assert {case for case, at, letter, _ in lines if at == level and letter[0] == "A"} == {word.split(" ")[0] for word in said.rstrip(".").split(": ")[1].split(", ")}, said
        pick(browser, "31 Write Skew at si")
        assert "31 Write Skew" in browser.text("h1") and browser.text(".badge") == "A: anomaly"
        assert browser.count(".statements tbody tr") == 6 and browser.count(".schedule tr") == 2
        assert browser.count(".lanes svg .bar.statement") == 6 and browser.run(OVERLAPS) == [] and browser.run(OUTSIDE) == []
        assert browser.count(".pair.lit") == 2 and browser.count(".pairs .node") == 2
        assert browser.count(".orders .fails") == 2 and browser.count(".orders .fits") == 0
        assert "read x = 0, and" in browser.text(".orders"), browser.text(".orders")
        assert browser.attribute("a[download]", "download") == "sim-si-31.jsonl" and "overwrote" in browser.text("pre")
        browser.cdp("Emulation.setEmulatedMedia", media="print")  # paper is narrower than what was drawn for the window
        assert browser.run("return getComputedStyle(document.querySelector('.lanes svg')).maxWidth") == "100%"
        is_quiet(browser)


def test_provoked_kinds(folder):
    """Pairs with a C are dashed; what waited is hatched; who was refused says so; a serial order is marked."""
    path, _ = make(folder, "-d", "sim", "-l", "si,pl-2", "28", "18a", "27")
    with Browser() as browser:
        browser.open(path)
        browser.settle()
        pick(browser, "28 Lost Update Committed at pl-2")
        assert browser.count(".pair.lit.ended") == 1 and browser.count(".pair.lit") == 2
        pick(browser, "18a Lost Update at pl-2")
        assert browser.count(".lanes .bar.blocked") == 1 and "waited" in browser.text(".statements")
        pick(browser, "28 Lost Update Committed at si")
        assert browser.text(".badge") == "R: refused" and browser.count(".answer.wrong") == 1 and browser.count(".node.aborted") == 1
        pick(browser, "27 Non-repeatable Read Committed at si")
        assert browser.count(".orders .fits") == 1 and browser.count(".pair.lit") == 0
        is_quiet(browser)


def test_provoked_expected(folder):
    table = os.path.join(folder, "table.tsv")
    with open(table, "w") as file:
        file.write("case\tsi\n27\tA\n31\tA\n")
    path, _ = make(folder, "-d", "sim", "-l", "si", "27", "31", "--expect", table)
    with Browser() as browser:
        browser.open(path)
        browser.settle()
        assert browser.count("button.cell.differs") == 1
        pick(browser, "27 Non-repeatable Read Committed at si: serial, expected A")
        assert "Expected was A." in browser.text(".hero")


def test_provoked_narrow(folder):
    """On a telephone only tables and schedules scroll sideways."""
    path, _ = make(folder, "-d", "sim", "-l", "si", "33", "14b", "p33i")
    with Browser() as browser:
        for width in (1280, 400):
            resize(browser, width)
            browser.open(path)
            browser.settle()
            browser.settle()
            assert browser.run("return document.documentElement.scrollWidth") <= width, width


def test_provoked_hostile(folder):
    """A case's name is text, whatever stands in it."""
    cases = os.path.join(folder, "cases")
    with open(cases, "w") as file:
        file.write(f"x1 {HOSTILE[:60]} | R1x W2x C2 R1x C1\n")
    path, _ = make(folder, "-d", "sim", "-l", "pl-2", cases)
    with Browser() as browser:
        browser.open(path)
        browser.settle()
        assert browser.run("return window.hacked ?? null") is None and HOSTILE[:60] in browser.text("h1")
        is_quiet(browser)


if __name__ == "__main__":
    sys.exit(webdriver.run_tests(sys.argv[1:], globals(), webdriver.missing()))
