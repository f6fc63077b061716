#!/usr/bin/env python3
"""Measures krait on the rows that it promises: a history, levels and the CPU seconds that it may take.

    bench/rows.py [--list] [PATTERN...]

A row takes the time of one process that is asked one level; PATTERN is a shell pattern for its name, 'NAME/LEVEL'. Prints, for each: verdict, CPU seconds (user and
system; of those that take under two the least of RUNS (5) runs), the most that are promised, peak MiB, CPU seconds of reading the same bytes with `cat`, how often those fit,
and the load. Traces are made once in build/bench/rows (KEPT names another folder). KRAIT names the program (default: the release preset's), KRAIT_DATA the recorded histories,
LIMIT the seconds for a row (60), MEMORY the MiB (1228).
"""
import collections, fnmatch, itertools, json, os, random, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KRAIT = os.environ.get('KRAIT', os.path.join(ROOT, 'build/release/bin/krait'))
DATA = os.environ.get('KRAIT_DATA', os.path.join(ROOT, '../shared/data'))
KEPT = os.environ.get('KEPT', os.path.join(ROOT, 'build/bench/rows'))
LIMIT, MEMORY, RUNS = os.environ.get('LIMIT', '60'), os.environ.get('MEMORY', '1228'), int(os.environ.get('RUNS', '5'))
EVERY = ('ser', 'si', 'psi', 'pl-2+', 'pl-2.99', 'pl-2l', 'cc', 'ra', 'rc-ax', 'pl-2', 'pl-1')  # of each kind of forbidden cycle one
UNIFORM = '--sessions 32 --ops 8 --reads 50'


def generated(options):
    def write(path):
        subprocess.run([KRAIT, 'gen', '--seed', '1', '--output', path, *options.split()], check=True)
    return write


def lines_of(path):
    with open(path) as file:
        head, *lines = file
    return head, lines


def grouped(options):
    """One session after the other, so that the trace's order tells nothing."""
    return generated(options + ' --lines grouped')


def shuffled(options, keep=('id', 'ops', 'status')):
    """In random order, with nothing else than what `keep` names."""
    def write(path):
        generated(options)(path)
        head, lines = lines_of(path)
        lines = [json.dumps({k: v for k, v in json.loads(line).items() if k in keep}) + '\n' for line in lines]
        random.Random(7).shuffle(lines)
        with open(path, 'w') as file:
            file.writelines([head] + lines)
    return write


def written(transactions):
    def write(path):
        with open(path, 'w') as file:
            file.write('{"krait": 1}\n')
            file.writelines(json.dumps(t) + '\n' for t in transactions())
    return write


def ring(n, noise):
    """As in Elle's tests: one cycle with a single rw, through n appends to one list, among cycles with two rw at each of them."""
    def appends(i):
        return [['append', 'ring', i], ['append', 'anti', 0] if i == 0 else ['r', 'anti', None] if i == n - 1 else ['append', i, 0]]

    def dangling(i, j):
        if j == noise - 2:
            return [['r', i, list(range(noise - 2))], ['r', f'anti {i}', None]]
        if j == noise - 1:
            return [['append', f'anti {i}', 0], ['r', 'ring', None]]
        return [['append', i, j]]

    def transactions():
        yield from ({'s': 0, 'ops': appends(i)} for i in range(n))
        yield {'s': 1, 'ops': [['r', 'ring', list(range(n))]]}
        yield from ({'s': 2, 'ops': dangling(i, j)} for i in range(1, n - 1) for j in range(1, noise))
    return written(transactions)


def gadgets(variables, clauses, seed):
    """Papadimitriou's history of a formula: serializable iff it can be satisfied. b saw a's version of a key that c writes, too: c comes before a (the variable is true)
    or after b. A literal is such a triple, as well, which must be c after b if it is false; the three of a clause must not all be."""
    def transactions():
        rng, ops, fresh = random.Random(seed), {}, itertools.count()

        def add(node, op):
            ops.setdefault(node, []).append(op)

        def arc(a, b):
            k = next(fresh)
            add(a, ['w', k, 1])
            add(b, ['r', k, 1])

        def triple(x, y, z):
            k = next(fresh)
            add(x, ['w', k, 1])
            add(y, ['r', k, 1])
            add(z, ['w', k, 2])
        for v in range(variables):
            triple(('a', v), ('b', v), ('c', v))
        for i in range(clauses):
            for j, v in enumerate(rng.sample(range(variables), 3)):
                x, y, z = (n + (i, j) for n in (('x',), ('y',), ('z',)))
                triple(x, y, z)
                arc(z, ('y', i, (j + 1) % 3))
                true = rng.random() < 0.5
                arc(x, ('b' if true else 'c', v))
                arc(('c' if true else 'a', v), z)
        order = list(ops)
        rng.shuffle(order)
        yield from ({'ops': ops[n]} for n in order)
    return written(transactions)


def recorded(path):
    return os.path.join(DATA, path)


NO_TIMES = UNIFORM + ' --no-times'
ALL_OPS = '--txns 2000 --sessions 16 --ops 8 --keys 400 --reads 40 --ranges 10 --locking 20 --autocommit 20 --store '
MIXED = '--txns 3000 --keys 60 --ops 4 --reads 40 --incs 20 --appends 20 --adds 20 --untold 50 --keep-lists'

# name: how to get it, order, level: most CPU seconds
ROWS = {
    'chengRW-16000': (recorded('CobraLogs/one-shot-chengRW/chengRW-16000'), 'session', {'ser': 0.12}),
    'rubis-10000': (recorded('CobraLogs/one-shot-10k/rubis-10000'), 'session', {'ser': 0.03}),
    'yuga-G2-a': (recorded('CobraLogs/ser-violation/yuga-G2-a'), 'session', {'ser': 0.05}),
    'twitter-100000': (recorded('CobraLogs/scaling/twitter-100000'), 'session', {'ser': 0.4, 'si': 0.5, 'cc': 0.6, 'ra': 0.4, 'rc-ax': 0.35}),
    'HD-10k': (recorded('VeriStrong/history/fig13-14-15-table1/HD-10k/hist-00000/history.bincode'), 'session', {'ser': 1, 'si': 1}),
    'uniform-100k': (generated(f'--txns 100000 --keys 10000 {UNIFORM}'), 'session', {'ser': 0.4}),
    'uniform-1m': (generated(f'--txns 1000000 --keys 100000 {UNIFORM}'), 'session', {'ser': 4.5}),
    'grouped-100k': (grouped(f'--txns 100000 --keys 10000 {NO_TIMES}'), 'session', {'ser': 3, 'si': 3, 'pl-2+': 3}),
    'grouped-zipf-100k': (grouped(f'--txns 100000 --keys 10000 {NO_TIMES} --dist zipf'), 'session', {'ser': 5, 'si': 5, 'pl-2+': 5}),
    'grouped-zipf-blind-100k': (grouped(f'--txns 100000 --keys 10000 --sessions 32 --ops 8 --reads 10 --no-times --dist zipf'), 'session',
                                {'ser': 10, 'si': 10, 'pl-2+': 10}),
    'few-values-50': (grouped(f'--txns 50 --keys 5 --values 5 {NO_TIMES}'), 'session', {'ser': 1, 'si': 1, 'cc': 1}),
    'few-values-1000': (grouped(f'--txns 1000 --keys 100 --values 6 {NO_TIMES}'), 'session', {'ser': 20, 'si': 20, 'cc': 20}),
    'no-sessions-blind-1k': (shuffled('--txns 1000 --keys 100 --sessions 32 --ops 8 --reads 10 --no-times'), 'session', {'ser': 3, 'si': 3}),
    'no-sessions-blind-10k': (shuffled('--txns 10000 --keys 1000 --sessions 32 --ops 8 --reads 10 --no-times'), 'session', {'ser': 30, 'si': 30}),
    'no-sessions-100k': (shuffled(f'--txns 100000 --keys 10000 {NO_TIMES}'), 'session', {'ser': 30, 'si': 30}),
    '10k-sessions-20k': (grouped('--txns 20000 --sessions 10000 --ops 8 --reads 50 --keys 2000 --no-times'), 'session', {'ser': 3, 'si': 3}),
    'ring-8k': (ring(267, 31), 'session', dict.fromkeys(EVERY, 0.3)),
    'ring-30k': (ring(1000, 30), 'session', dict.fromkeys(EVERY, 2)),
    'mariadb-rc': (generated(ALL_OPS + 'mariadb-rc'), None, {'all': 5}),
    'postgresql-rc': (generated(ALL_OPS + 'postgresql-rc'), None, {'all': 5}),
    'gadgets-200': (gadgets(200, 852, 1), 'none', {'ser': 10}),
    'gadgets-200-b': (gadgets(200, 852, 2), 'none', {'ser': 10}),
    'counters-shuffled': (shuffled(MIXED, ('id', 's', 'ops', 'status')), 'none', {'ser': 10}),
}


def measure(command):
    """CPU seconds, peak MiB, exit status, standard output"""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode, out.read().decode(errors='replace')


def path_of(name, source):
    if isinstance(source, str):
        return source
    os.makedirs(KEPT, exist_ok=True)
    path = os.path.join(KEPT, name + '.jsonl')
    if not os.path.exists(path):
        source(path + '.new')
        os.rename(path + '.new', path)
    return path


def reading(path):
    """CPU seconds that `cat` takes for a file or folder."""
    files = [path] if os.path.isfile(path) else [os.path.join(d, f) for d, _, names in os.walk(path) for f in names]
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(['cat', *files], stdout=subprocess.PIPE)
        while process.stdout.read(1 << 20):
            pass
        return sum(os.wait4(process.pid, 0)[2][:2])


def run(name, level):
    source, order, most = ROWS[name]
    path = path_of(name, source)
    if not os.path.exists(path):
        return print(f'| {name}/{level} | not in {DATA} |')
    command = [KRAIT, 'check', '--json', '--quiet', '--level', level, *(['--order', order] if order else []), '--timeout', LIMIT, '--memory', MEMORY, path]
    runs = [measure(command)]
    while len(runs) < RUNS and runs[0][0] < 2:
        runs.append(measure(command))
    cpu, mib, status, text = min(runs)
    if status not in (0, 1, 2):
        sys.exit(f'{name}/{level}: krait fails with status {status}')
    bytes_read = reading(path)
    verdicts = collections.Counter(json.loads(line)['verdict'] for line in text.splitlines())
    said = next(iter(verdicts)) if len(verdicts) == 1 else ', '.join(f'{n} {v}' for v, n in verdicts.items())
    print(f'| {name}/{level} | {said} | {cpu:.2f} | {most[level]} | {mib:.0f} | {bytes_read:.3f} | {cpu / max(bytes_read, 0.001):.0f} '
          f'| {os.getloadavg()[0]:.0f} |', flush=True)


def main():
    patterns = [a for a in sys.argv[1:] if not a.startswith('-')] or ['*']
    wanted = [(n, level) for n, row in ROWS.items() for level in row[2] if any(fnmatch.fnmatch(f'{n}/{level}', p) for p in patterns)]
    if '--list' in sys.argv:
        return print('\n'.join(f'{n}/{level}' for n, level in wanted))
    print('| row | verdict | CPU s | at most | MiB | reading its bytes | times that | load |\n|---|---|---|---|---|---|---|---|')
    for name, level in wanted:
        run(name, level)


main()
