"""`krait-lab provoke` without a server: schedules alone, the small database of krait-lab, and embedded stores. What must come out is the definitions' (docs/provoke.md) and the tables' in lab/expect/.

    test_provoke.py NAME     runs test_NAME; 77: the driver was not built
"""

import json
import os
import subprocess

from lab import FOLDER, KRAIT, LAB, main
from provoked import TRACES, cells, column, hold_to_definitions, is_anomaly, provoke, table_of

# Predicates are reads of all rows of their ranges.
PREDICATES = {"p27d": 27, "p27i": 27, "p29d": 29, "p29i": 29, "p14d": 14, "p14i": 14, "p31i": 31, "p31o": 31, "p33d": 33, "p33i": 33}


def test_provoke_classified():
    """All cases get the number that they are named after, its class and size."""
    run = cells("-d", "none")
    assert len(run) == 53
    for cell in run:
        number = PREDICATES.get(cell["case"]) or int(cell["case"].rstrip("abcde"))
        assert cell["number"] == number, cell
        assert cell["class"] == ("RAT" if number <= 14 else "WAT" if number <= 26 else "IAT"), cell
        assert cell["size"] == ("MDA" if number in (14, 26, 33) else "SDA" if number in (1, 2, 3, 4, 5, 15, 16, 17, 18, 19, 27, 28) else "DDA"), cell
        pairs = cell["intended_pop"]
        assert all(pair["to"] == after["from"] for pair, after in zip(pairs, pairs[1:] + pairs[:1])), cell


def test_provoke_schedules_and_specs():
    consistent, late, early, spec = cells("-d", "none", "W1x W2x", "R1x W2y W2x C2 R1y", "R1x W2y W2x R1y", "RW0-WCR1")
    assert consistent["number"] is None and consistent["intended_pop"] is None
    assert (late["number"], early["number"], spec["number"]) == (29, 11, 29)
    assert spec["case"] == "RW0-WCR1"
    assert [cell["case"] for cell in cells("-d", "none", "21", "33", "p31i")] == ["21a", "21b", "33", "p31i"]
    one = [cell["schedule"] for cell in cells("-d", "none", "--cycles", "20", "--seed", "7")]
    assert one == [cell["schedule"] for cell in cells("-d", "none", "--cycles", "20", "--seed", "7")] and len(one) == 20
    assert one != [cell["schedule"] for cell in cells("-d", "none", "--cycles", "20", "--seed", "8")]


# Lines of a file, and where it is wrong.
BAD = {
    "a b | R1x X2x": "1:11: found 'X2x', expected an operation",
    "a | R1x C1\n\n# note\nb | W1x1 W2x1": "4:10: found 'W2x1', expected a value that the object has not had before",
    "a | C1 R1x": "1:8: found 'R1x', expected no operation behind its transaction's end",
    "# only this": " found no case, expected ID NAME | SCHEDULE in a line",
}


def test_provoke_bad_cases():
    path = os.path.join(FOLDER.name, "cases")
    for text, message in BAD.items():
        with open(path, "w") as file:
            file.write(text + "\n")
        out, said = provoke("-d", "none", path, status=254)
        assert out == "" and f"{path}:{message}" in said, (text, said)
    with open(path, "w") as file:
        file.write("one first case | W1x R2x A1 | x=7\n\nR1x W2x C2 R1x\n")
    assert [(cell["case"], cell["number"]) for cell in cells("-d", "none", path)] == [("one", 1), ("2", 27)]


WRONG = {
    (): "expected '--driver DRIVER'",
    ("-d", "simm"): "unknown driver 'simm'; did you mean 'sim'?",
    ("-d", "sim", "-l", "pl-ss,sii"): "driver sim has no level 'sii'; did you mean 'si'?",
    ("-d", "sim", "99"): "'99' is no case, and as a file: No such file or directory",
    ("-d", "sim", "WCR0-RCW1"): "expected an edge without a C",
    ("-d", "sim", "--edges", "3..4"): "options '--edges', '--objects' and '--seed' go with '--cycles'",
    ("-d", "sim", "--cycles", "3", "--edges", "5..3"): "option '--edges': found '5..3', expected A..B, from 2 to 9",
    ("-d", "sim", "--cap", "4000"): "option '--cap': found 4000, expected at most 3600",
    ("-d", "sim", "--expect", "known"): "option '--expect': no table comes with driver sim",
    ("-d", "sim", "1=what R1x W2x C2 C1"): "case '1': the driver has no level 'what'",
}


def test_provoke_wrong_options():
    for options, message in WRONG.items():
        out, said = provoke(*options, status=254)
        assert out == "" and message in said and said.count("\n") == 1, (options, said)


def test_provoke_sim():
    """A right database lets nothing through at its strictest level; weaker and broken ones do what they are known for."""
    run = cells("-d", "sim", "-l", "pl-ss,si,pl-2,write-skew,lost-update,dirty")
    hold_to_definitions(run)
    letters = {(cell["case"], cell["level"]): cell["letter"] for cell in run}
    assert not any(is_anomaly(cell) for cell in run if cell["level"] == "pl-ss")
    for case, level in (("31", "si"), ("27", "pl-2"), ("28", "pl-2"), ("31", "write-skew"), ("28", "lost-update"), ("01", "dirty")):
        assert letters[case, level] == "A", (case, level, letters[case, level])
    for case, level in (("27", "si"), ("28", "si"), ("01", "pl-2"), ("27", "lost-update")):
        assert letters[case, level][0] != "A", (case, level, letters[case, level])


def test_provoke_lines():
    out, _ = provoke("-d", "sim", "-l", "si,pl-2", "31", "27")
    lines, matrix = out.split("\n\n")
    assert lines.splitlines()[0] == "31\tsi\tA\tR1x0 R2y0 W2x1 W1y1 C1 C2", out
    assert [line.split("\t")[:3] for line in lines.splitlines()[1:]] == [["27", "si", "P"], ["31", "pl-2", "A"], ["27", "pl-2", "A"]]
    assert [line.split()[-2:] for line in matrix.splitlines()] == [["si", "pl-2"], ["A", "A"], ["P", "A"]]


def test_provoke_open_transactions():
    """What the schedule leaves open is rolled back; levels may differ."""
    run, = cells("-d", "sim", "-l", "dirty", "W1x R2x C2")
    assert (run["letter"], run["found"]["number"]) == ("A", 1) and run["survivors"] == [2]
    run, = cells("-d", "sim", "-l", "dirty", "2=pl-2 W1x R2x A1 C2")
    assert run["letter"] == "P" and run["executed"] == "W1x1 R2x0 A1 C2"


def test_provoke_expect():
    """Another column's letters: the cells that differ are told, with status 1."""
    path = os.path.join(FOLDER.name, "table.tsv")
    with open(path, "w") as file:
        file.write("# by hand\ncase\tsi\tpl-ss\n27\tP\tP\n31\tA\tP\n32\tP\t.\n")
    out, said = provoke("-d", "sim", "-l", "si", "27", "31", "32", "33", "--expect", path, status=1)
    assert "32 at si: found A, expected P" in said and "1 cells differ" in said and "31" not in said, said
    assert [cell.get("expected") for cell in cells("-d", "sim", "-l", "si", "27", "32", "--expect", path, status=1)] == [None, "P"]
    provoke("-d", "sim", "-l", "si", "27", "31", "--expect", path)
    for text, message in {"": "found no case", "case\twhat\n": ":1: driver sim has no level 'what'", "case\tsi\n27\n": ":2: found 1 cells", "27\tP\n": ":1: found '27', expected 'case'"}.items():
        with open(path, "w") as file:
            file.write(text)
        _, said = provoke("-d", "sim", "--expect", path, status=254)
        assert message in said, (text, said)


def test_provoke_claim():
    _, said = provoke("-d", "sim", "-l", "write-skew", "31", "--claim", status=1)
    assert "31 at write-skew: ser, which is claimed, is violated: write skew" in said, said
    provoke("-d", "sim", "-l", "si", "31", "27", "--claim")


def test_provoke_crash():
    """A store that dies in a case: X there, and the other cases run."""
    out, said = provoke("-d", "sim", "-l", "pl-ss", "--connect", "crash=5", "27", "28", "31", "32", "33", status=255)
    letters = [line.split("\t")[2] for line in out.split("\n\n")[0].splitlines()]
    assert "X" in letters and set(letters) > {"X"} and "crashed" in said, (out, said)


def test_provoke_stuck():
    """What does not come back in time: T there, and the other cases run."""
    out, _ = provoke("-d", "sim", "-l", "pl-ss", "--connect", "stall=5", "--cap", "1", "27", "28", "31", "32", "33")
    letters = [line.split("\t")[2] for line in out.split("\n\n")[0].splitlines()]
    assert "T" in letters and set(letters) > {"T"}, out


def test_provoke_traces():
    """Header, transactions with the times of their steps, a last one that reads everything, and the orders of versions."""
    cell, = cells("-d", "sim", "-l", "pl-2", "28")
    with open(cell["trace"]) as file:
        header, first, second, final, order = map(json.loads, file)
    assert header["initial"] == {"x": 0} and header["lab"]["level"] == "pl-2"
    assert [op[0] for op in first["ops"]] == ["r", "w"] and [op[0] for op in second["ops"]] == ["w"]
    assert first["id"] == "T1" and final["id"] == "final" and final["ops"] == [["r", "x", 1]]
    assert order == {"version_order": "x", "writers": ["T2", "T1"]}
    done = subprocess.run([KRAIT, "check", "-l", "ser,pl-2", "--order", "none", "--json", cell["trace"]], capture_output=True, text=True)
    assert [json.loads(line)["verdict"] for line in done.stdout.splitlines()] == ["violated", "satisfied"], done.stdout


def test_provoke_schema():
    try:
        import jsonschema
    except ImportError:
        raise SystemExit(77)
    schema = jsonschema.Draft202012Validator(json.loads(subprocess.run([KRAIT, "schema", "provoke"], capture_output=True, text=True, check=True).stdout))
    for cell in cells("-d", "none", "W1x W2x", "31") + cells("-d", "sim", "-l", "pl-ss,dirty,forgetful"):
        schema.validate(cell)


def test_provoke_sqlite():
    column("sqlite")


def test_provoke_wiredtiger():
    """Below snapshot, dirty writes: the store on which the second class shows."""
    run = column("wiredtiger", dirty_writes=True)
    for case in ("21a", "22", "26"):
        done = subprocess.run([KRAIT, "check", "-l", "pl-1", "--json", run[case, "read-committed"]["trace"]], capture_output=True, text=True)
        assert json.loads(done.stdout)["anomaly"]["name"] == "G0", (case, done.stdout)


def test_provoke_rocksdb():
    """Writes that are buffered until commit are no dirty ones, whatever aborts."""
    run = column("rocksdb")
    for cell in (run["15a", level] for level in ("optimistic-plain", "optimistic-snapshot", "optimistic-lock")):
        assert cell["letter"] == "P" and cell["pop"] is None and cell["executed"] == "W1x1 W2x2 A1 C2", cell


def test_provoke_lmdb():
    column("lmdb")


def test_provoke_bdb():
    column("bdb")


def test_provoke_sixty_cycles():
    run = cells("-d", "sqlite", "-l", "journal,wal,wal-immediate", "--cycles", "60", "--edges", "3..5", "--objects", "3", "--seed", "7")
    assert len(run) == 180 and not any(is_anomaly(cell) for cell in run)
    hold_to_definitions(run)


def test_provoke_page_tells_all():
    """docs/provoke.md names every option, letter and table."""
    with open("docs/provoke.md") as file:
        page = file.read()
    for line in subprocess.run([LAB, "provoke", "--help"], capture_output=True, text=True, check=True).stdout.split("Options:")[1].splitlines():
        for word in line.split():
            word = word.strip("':,.;")
            if word.startswith("--") and word not in ("--help", "--plugin"):
                assert f"`{word}" in page, word
    for letter in "PARDTBEX":
        assert f"| `{letter}` |" in page, letter
    for name in os.listdir("lab/expect"):
        assert name[:-4] in page and len(table_of(name[:-4])[1]) >= 43, name


if __name__ == "__main__":
    main(globals())
