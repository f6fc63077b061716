"""What tests of `krait-lab provoke` share."""

import json
import os
import re
import subprocess
import sys

from lab import FOLDER, KRAIT, LAB

TRACES = os.path.join(FOLDER.name, "provoked")
COLUMN_SECONDS = 60  # of a level


def provoke(*options, status=0, folder=TRACES, timeout=600):
    """Standard output and standard error."""
    done = subprocess.run([LAB, "provoke", "-o", folder, *options], capture_output=True, text=True, timeout=timeout)
    if done.returncode == 77 and status != 77:
        print(done.stderr)
        sys.exit(77)
    assert done.returncode == status, (options, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout, done.stderr


def cells(*options, status=0):
    """The objects that --json prints."""
    out, _ = provoke("--json", *options, status=status)
    return [json.loads(line) for line in out.splitlines()]


def is_anomaly(cell):
    """No serial order explains what was answered."""
    return cell["letter"][0] == "A" or cell["letter"].endswith("*")


def is_buffered(cell):
    return cell["driver"] in ("redis", "etcd") or cell["level"].startswith("optimistic-")


def hold_to_definitions(run, named=False):
    """Whatever the letters are: a cycle of pairs iff there is an anomaly, or one that nobody saw (w); each has a name; and krait says of the trace what the runner says of the run; `named`: by the same name, as it is where the run has one cycle."""
    for cell in run:
        assert (cell["pop"] is not None) == (is_anomaly(cell) or cell["letter"].endswith("w")), cell
        assert cell["pop"] is None or cell["found"]["number"], cell
        assert (cell["serial"] is None) == is_anomaly(cell), cell
        assert cell["executed"], cell
    paths = [cell["trace"] for cell in run]
    done = subprocess.run([KRAIT, "check", "-l", "ser", "--order", "none", "--json", *paths], capture_output=True, text=True)
    verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(verdicts) == len(run), done.stderr
    for cell, verdict in zip(run, verdicts):
        if cell["letter"].endswith("w") and "-" in cell["case"]:
            continue  # a blind write that was overwritten unseen: serial to whoever looks, and not in the order of versions that the trace tells
        assert verdict["verdict"] == ("violated" if is_anomaly(cell) else "satisfied"), (cell, verdict)
        if named and is_anomaly(cell) and not is_buffered(cell):  # that writes were buffered no trace tells
            assert verdict["coo"]["number"] == cell["found"]["number"], (cell, verdict["coo"])


def column(driver, *options, dirty_writes=False, seconds=COLUMN_SECONDS):
    """Every case at every level of the table comes out as the table says, in time, and as the definitions say."""
    run = [cell for cell in cells("-d", driver, "-l", levels_of(driver), "--expect", "known", *options) if cell["letter"] != "-"]
    hold_to_definitions(run, named=True)
    for level in {cell["level"] for cell in run}:
        assert sum(cell["seconds"] for cell in run if cell["level"] == level) < seconds, level
    assert dirty_writes or not any(cell["letter"].endswith("w") for cell in run)
    return {(cell["case"], cell["level"]): cell for cell in run}


def table_of(driver):
    with open(f"lab/expect/{re.sub('[^a-z0-9]', '-', driver)}.tsv") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return rows[0][1:], {row[0]: row[1:] for row in rows[1:]}


def levels_of(driver):
    return ",".join(table_of(driver)[0])
