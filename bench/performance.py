#!/usr/bin/env python3
"""Measures krait on generated and recorded histories, and writes docs/performance.md.

    bench/performance.py list [PATTERN...]         rows, and which have been measured
    bench/performance.py run [--again] [PATTERN...] measures rows that have not been, a process at a time
    bench/performance.py table                     writes docs/performance.md from what was measured

A row is a history, a level and an order; PATTERN is a shell pattern for its name, such as 'uniform-*/ser'. Results are kept one file a row in build/bench, so a run
that is broken off goes on where it was. Each row has its baselines measured right before it, on the same file: python3's json module and jansson, line by line.
CPU seconds are user and system time of the whole process and its threads, memory is its peak: both from wait4. KRAIT names the program (default: the release
preset's), KRAIT_DATA the recorded histories, LIMIT the seconds for a row (60), MEMORY the MiB (1228).
"""
import fnmatch, json, multiprocessing, os, random, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KRAIT = os.environ.get('KRAIT', os.path.join(ROOT, 'build/release/bin/krait'))
DATA = os.environ.get('KRAIT_DATA', os.path.join(ROOT, '../shared/data'))
LIMIT, MEMORY = os.environ.get('LIMIT', '60'), os.environ.get('MEMORY', '1228')
KEPT = os.path.join(ROOT, 'build/bench')
PARSE = 'import json, sys\nfor line in open(sys.argv[1]): json.loads(line)'
LEVELS = ('ser', 'si', 'psi', 'pl-2+', 'cc', 'ra', 'rc-ax')

# name: what `krait gen` is told beyond the size, and what is done to the trace
FAMILIES = {
    'uniform': ('--reads 50', None),
    'uniform-10': ('--reads 10', None),
    'uniform-90': ('--reads 90', None),
    'zipf': ('--reads 50 --dist zipf', None),
    'zipf-10': ('--reads 10 --dist zipf', None),
    'zipf-90': ('--reads 90 --dist zipf', None),
    'update': ('--reads 50 --cas 50', None),
    'equal': ('--reads 50 --values 5', None),
    'no-times': ('--reads 50 --no-times', 'grouped'),
    'zipf-10-no-times': ('--reads 10 --dist zipf --no-times', 'grouped'),
    'no-sessions': ('--reads 50 --no-times', 'shuffled'),
    'zipf-10-no-sessions': ('--reads 10 --dist zipf --no-times', 'shuffled'),
    'snapshot': ('--reads 50 --store snapshot', None),
}
SIZES = {'10k': (10000, 1000), '100k': (100000, 10000), '1m': (1000000, 100000)}
EXTREMES = {
    'one-key': '--txns 100000 --sessions 32 --ops 1 --keys 1 --reads 0',
    'one-transaction': '--txns 2 --sessions 2 --ops 100000 --keys 1000000 --reads 50',
    'one-value': '--txns 2000 --sessions 32 --ops 4 --keys 50 --reads 50 --values 1 --no-times',
    'long-lists': '--txns 5000 --sessions 32 --ops 4 --keys 10 --appends 50 --reads 50 --keep-lists',
}
RECORDED = {
    'chengRW-4000': 'CobraLogs/one-shot-chengRW/chengRW-4000',
    'chengRW-16000': 'CobraLogs/one-shot-chengRW/chengRW-16000',
    'rubis-10000': 'CobraLogs/one-shot-10k/rubis-10000',
    'BL-10k': 'VeriStrong/history/fig13-14-15-table1/BL-10k/hist-00000/history.bincode',
    'WH-10k': 'VeriStrong/history/fig13-14-15-table1/WH-10k/hist-00000/history.bincode',
}


def rows():
    """name -> (how to get the trace, level)"""
    all_rows = {}
    for name, path in RECORDED.items():
        for level in ('ser', 'si', 'psi', 'pl-2+') if name in ('rubis-10000', 'BL-10k') else ('ser', 'si'):
            all_rows[f'{name}/{level}'] = (('recorded', path), level)
    for size, (txns, keys) in SIZES.items():
        for name, (options, after) in FAMILIES.items():
            if size == '1m' and name not in ('uniform', 'zipf'):
                continue
            trace = ('generated', f'--txns {txns} --sessions 32 --ops 8 --keys {keys} {options}', after)
            for level in LEVELS if name == 'uniform' else ('ser', 'si'):
                all_rows[f'{name}-{size}/{level}'] = (trace, level)
    for level in ('rc-ax', 'ra', 'cc'):
        all_rows[f'weak-16k/{level}'] = (('generated', '--txns 16000 --sessions 32 --ops 8 --keys 10000 --reads 50', None), level)
    for name, options in EXTREMES.items():
        all_rows[f'{name}/ser'] = (('generated', options, None), 'ser')
    return all_rows


def rearrange(path, how):
    """grouped: one session after the other, so that the trace's order tells nothing; shuffled: without sessions, in random order"""
    with open(path) as file:
        head, *lines = file
    if how == 'shuffled':
        lines = [json.dumps({k: v for k, v in json.loads(line).items() if k != 's'}) + '\n' for line in lines]
        random.Random(7).shuffle(lines)
    else:
        lines.sort(key=lambda line: json.loads(line)['s'])
    with open(path, 'w') as file:
        file.writelines([head] + lines)


def make(trace):
    """The trace's path; generated ones are made once and kept while the rows that need them come one after the other."""
    if trace[0] == 'recorded':
        return os.path.join(DATA, trace[1])
    path, note = os.path.join(KEPT, 'trace.jsonl'), os.path.join(KEPT, 'trace.what')
    what = json.dumps(trace)
    if not (os.path.exists(path) and os.path.exists(note) and open(note).read() == what):
        if os.path.exists(note):
            os.remove(note)
        subprocess.run([KRAIT, 'gen', '--seed', '1', '--output', path, *trace[1].split()], check=True)
        if trace[2]:  # in a process of its own: what this one has taken counts as taken by those that it starts
            process = multiprocessing.Process(target=rearrange, args=(path, trace[2]))
            process.start()
            process.join()
            if process.exitcode != 0:
                sys.exit(f'{path}: not rearranged')
        with open(note, 'w') as file:
            file.write(what)
    return path


def measure(command):
    """CPU seconds, elapsed seconds, peak MiB, exit status, standard output"""
    with tempfile.TemporaryFile() as out:
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        elapsed = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, elapsed, usage.ru_maxrss / 1024, process.returncode, out.read().decode()


def run_row(name, trace, level, jansson):
    path = make(trace)
    result = {'row': name, 'date': time.strftime('%Y-%m-%d %H:%M'), 'load': os.getloadavg()[0]}
    if trace[0] == 'generated':
        result['python'] = measure([sys.executable, '-c', PARSE, path])[0]
        result['jansson'] = measure([jansson, path])[0]
    command = [KRAIT, 'check', '--json', '--stats', '--quiet', '--level', level, '--order', 'session', '--timeout', LIMIT, '--memory', MEMORY, path]
    result['cpu'], result['elapsed'], result['mib'], status, text = measure(command)
    if status not in (0, 1, 2):
        sys.exit(f'{name}: krait fails with status {status}')
    result['verdict'] = json.loads(text)
    return result


def file_of(name):
    return os.path.join(KEPT, name.replace('/', '@') + '.json')


def wanted(patterns):
    found = {n: r for n, r in rows().items() if not patterns or any(fnmatch.fnmatch(n, p) for p in patterns)}
    if not found:
        sys.exit(f'no row matches: {" ".join(patterns)}')
    return found


def run(patterns, again):
    os.makedirs(KEPT, exist_ok=True)
    jansson = os.path.join(KEPT, 'jansson')
    subprocess.run(['cc', '-O2', '-o', jansson, os.path.join(ROOT, 'bench/jansson.c'), '-ljansson'], check=True)
    for name, (trace, level) in wanted(patterns).items():
        if os.path.exists(file_of(name)) and not again:
            continue
        if trace[0] == 'recorded' and not os.path.exists(os.path.join(DATA, trace[1])):
            print(f'{name}: not in {DATA}')
            continue
        result = run_row(name, trace, level, jansson)
        with open(file_of(name), 'w') as file:
            json.dump(result, file)
        print(f'{name}: {result["verdict"]["verdict"]}, {result["cpu"]:.2f} s CPU, {result["mib"]:.0f} MiB', flush=True)


def choices(stats):
    """Open sources and presences, and keys whose order is open, at the start and after each pass that changed them."""
    parts, last = [], None
    for p in stats['passes']:
        before, after = (p[when]['open_sources'] + p[when]['open_presences'] for when in ('before', 'after'))
        if last is None:
            parts.append(f'{before}+{p["before"]["open_keys"]}')
            last = before, p['before']['open_keys']
        if (after, p['after']['open_keys']) != last:
            last = after, p['after']['open_keys']
            parts.append(f'{p["pass"]} {after}+{last[1]}')
    return ', '.join(parts)


def cells(r):
    v, s = r['verdict'], r['verdict']['stats']
    in_passes = sum(p['seconds'] for p in s['passes'])
    times = (s['read_seconds'], in_passes, s.get('solve_seconds', 0), s['verify_seconds'])
    ratio = [f'{r["cpu"] / r[b]:.1f}' if r.get(b) else '' for b in ('python', 'jansson')]
    solver = f'{v.get("rounds", s.get("rounds", 0))} / {s.get("choices", 0)}'
    return [r['row'], f'{v["txns"]}', v['verdict'], f'{r["cpu"]:.2f}', *ratio, f'{r["mib"]:.0f}', ' / '.join(f'{t:.2f}' for t in times), choices(s), solver,
            f'{r["load"]:.0f}']


HEAD = ['history/level', 'transactions', 'verdict', 'CPU s', '÷ Python', '÷ jansson', 'MiB', 'elapsed: read / passes / back end / verify', 'left open', 'rounds / Booleans',
        'load']


def table():
    measured = []
    for name in rows():
        if os.path.exists(file_of(name)):
            with open(file_of(name)) as file:
                measured.append(json.load(file))
    if not measured:
        sys.exit('nothing has been measured: bench/performance.py run')
    path = os.path.join(ROOT, 'docs/performance.md')
    begin, end = '<!-- begin of what bench/performance.py writes -->\n', '<!-- end -->\n'
    text = open(path).read() if os.path.exists(path) else '# Performance\n\n' + begin + end
    before, after = text.split(begin)[0], text.split(end)[1]
    dates = sorted(r['date'] for r in measured)
    loads = [r['load'] for r in measured]
    lines = [f'Measured from {dates[0]} to {dates[-1]} on {machine()}; load average {min(loads):.0f} to {max(loads):.0f}; {len(measured)} of {len(rows())} rows.\n\n',
             '| ' + ' | '.join(HEAD) + ' |\n', '|' + '---|' * len(HEAD) + '\n']
    lines += ['| ' + ' | '.join(cells(r)) + ' |\n' for r in measured]
    with open(path, 'w') as file:
        file.write(before + begin + ''.join(lines) + end + after)


def machine():
    with open('/proc/cpuinfo') as file:
        names = [line.split(':')[1].strip() for line in file if line.startswith('model name')]
    return f'{len(names)} processors ({names[0] if names else "unknown"})'


def main():
    command, *rest = sys.argv[1:] or ['help']
    if command == 'run':
        run([p for p in rest if p != '--again'], '--again' in rest)
    elif command == 'list':
        for name in wanted(rest):
            print(name, '' if os.path.exists(file_of(name)) else '(not measured)')
    elif command == 'table':
        table()
    else:
        sys.exit(__doc__)


main()
