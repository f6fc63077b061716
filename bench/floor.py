#!/usr/bin/env python3
"""Measures krait on folders of Cobra's logs by what a reader cannot do without: reading the bytes, and one look into a table for each key and each value (bench/floor.c).

    bench/floor.py [FOLDER...]     default: the recorded histories of bench/rows.py that are such folders

Prints, for each: CPU seconds of the floor, seconds that krait reads for and their ratio, CPU seconds of deciding serializability with session order, all the least of five runs; and, where
valgrind is installed, the same in millions of instructions, which other work on the machine does not change. KRAIT names the program (default: the release preset's), KRAIT_DATA the
recorded histories.
"""
import json, os, re, shutil, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KRAIT = os.environ.get('KRAIT', os.path.join(ROOT, 'build/release/bin/krait'))
DATA = os.environ.get('KRAIT_DATA', os.path.join(ROOT, '../shared/data'))
FOLDERS = ('one-shot-chengRW/chengRW-16000', 'one-shot-10k/rubis-10000', 'ser-violation/yuga-G2-a', 'scaling/twitter-100000')
RUNS = 5


def run(command):
    """CPU seconds, standard output"""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        usage = os.wait4(process.pid, 0)[2]
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, out.read().decode()


def instructions(command, function=None):
    """Millions of them, in all or within a function; None: they cannot be counted."""
    if not shutil.which('valgrind'):
        return None
    with tempfile.NamedTemporaryFile() as counts:
        subprocess.run(['valgrind', '--tool=callgrind', '--callgrind-out-file=' + counts.name, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        text = subprocess.run(['callgrind_annotate', '--inclusive=yes', '--auto=no', counts.name], capture_output=True, text=True).stdout
    found = re.search(r'^ *([\d,]+) .*' + (f':{function}( |$)' if function else 'PROGRAM TOTALS'), text, re.M)
    return int(found[1].replace(',', '')) / 1e6 if found else None


def times(a, b):
    return f'{a / b:.1f}' if a and b else ''


def shown(a):
    return '' if a is None else f'{a:.0f}'


def measure(folder, floor):
    logs = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith('.log'))
    check = [KRAIT, 'check', '--json', '--stats', '--quiet', '--level', 'ser', '--order', 'session', folder]
    least = min(run([floor, *logs])[0] for _ in range(RUNS))
    runs = [run(check) for _ in range(RUNS)]
    reading = min(float(re.search(r'"read_seconds": ([\d.]+)', text)[1]) for _, text in runs)
    words = [c for c in check if c not in ('--json', '--stats')]
    counts = instructions([floor, *logs]), instructions(words, 'kr_read_trace'), instructions(words)
    print(f'| {os.path.basename(folder.rstrip("/"))} | {json.loads(runs[0][1])["verdict"]} | {least:.3f} | {reading:.3f} | {times(reading, least)} | {min(r[0] for r in runs):.2f} '
          f'| {shown(counts[0])} | {shown(counts[1])} | {times(counts[1], counts[0])} | {shown(counts[2])} |', flush=True)


def main():
    folders = sys.argv[1:] or [os.path.join(DATA, 'CobraLogs', name) for name in FOLDERS]
    with tempfile.TemporaryDirectory() as work:
        floor = os.path.join(work, 'floor')
        subprocess.run(['cc', '-O2', '-o', floor, os.path.join(ROOT, 'bench/floor.c')], check=True)
        print('| folder | verdict | floor s | read s | ratio | decided s | floor M instructions | read | ratio | decided |\n|---|---|---|---|---|---|---|---|---|---|')
        for folder in folders:
            measure(folder, floor)


main()
