#!/usr/bin/env python3
"""Measures streams: what holding a database to a profile costs beyond reading its lines, and in which memory.

    bench/stream.py [MILLIONS]     default: 1; figures for that many transactions, and for twice as many

Streams are of `krait gen`: 16 sessions, 10,000 keys, four operations and an end a transaction. CPU time is taken by bench/stream.c, once for reading alone (each line is
parsed and told to nobody) and once with the engine behind it; a line is measured once. `parsed` is what the engine alone would do with lines that are parsed already. Memory
is what is in use by krait's own account. Needs the release preset, its target krait_static, and a quiet machine; files are kept in build/bench.
"""
import json, os, re, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get('BUILD', os.path.join(ROOT, 'build/release'))
KRAIT = os.environ.get('KRAIT', os.path.join(BUILD, 'bin/krait'))
KEPT = os.path.join(ROOT, 'build/bench')
STATEMENTS, IDLE = 20000, 1000000


def path(name):
    return os.path.join(KEPT, name)


def build():
    os.makedirs(KEPT, exist_ok=True)
    libraries = [os.path.join(folder, name) for folder, _, names in os.walk(BUILD) for name in names if name == 'libkrait.a']
    flags = subprocess.run(['pkg-config', '--cflags', '--libs', 'jansson', 'z3', 'zlib'], stdout=subprocess.PIPE, text=True).stdout.split()
    subprocess.run(['cc', '-O2', '-std=gnu11', '-flto=auto', '-I' + ROOT, '-I' + os.path.join(ROOT, 'include'), '-o', path('stream'), os.path.join(ROOT, 'bench/stream.c'),
                    *libraries, *(flags or ['-ljansson', '-lz3', '-lz']), '-lm', '-lpthread', '-ldl'], check=True)


def generated(store, txns):
    file = path(f'stream-{store}-{txns}.jsonl')
    if not os.path.exists(file):
        subprocess.run([KRAIT, 'gen', '--seed', '1', '--txns', str(txns), '--sessions', '16', '--keys', '10000', '--stream', '--store', store,
                        '--output', file + '.part'], check=True)
        os.rename(file + '.part', file)
    return file


def with_reader(source):
    """The same with one more session, whose one transaction reads from the first tick to the last, what was there at first."""
    file = source.replace('.jsonl', '-reader.jsonl')
    if os.path.exists(file):
        return file
    times = re.compile(rb'\[(\d+), (\d+)\]')
    size = os.path.getsize(source)
    with open(source, 'rb') as lines:
        lines.seek(max(0, size - 4096))
        end = max(int(pair[1]) for pair in times.findall(lines.read()))
    step, told, at = max(2, end // (STATEMENTS + 4)), 0, 1
    with open(source, 'rb') as lines, open(file + '.part', 'wb') as out:
        head = json.loads(lines.readline())
        head['sessions'].append('reader')
        keys = list(head['initial'])
        out.write(json.dumps(head).encode() + b'\n')
        for line in lines:
            found = times.search(line)
            while found and told < STATEMENTS and at <= int(found[2]):
                out.write(b'{"txn": "reader", "s": "reader", "op": ["r", "%s", 0, {"t": [%d, %d]}]}\n' % (keys[told % len(keys)].encode(), at, at + 1))
                told, at = told + 1, at + step
            out.write(line)
        out.write(b'{"txn": "reader", "s": "reader", "end": [%d, %d]}\n{"s": "reader", "now": null}\n' % (max(at, end), max(at, end) + 1))
    os.rename(file + '.part', file)
    return file


def idle():
    file = path('stream-idle.jsonl')
    with open(file, 'w') as out:
        out.write('{"krait": 1, "stream": true, "sessions": ["s"]}\n')
        for i in range(0, IDLE, 4):
            at = 10 * i
            ops = ', '.join(f'["w", "key{k:08}", {k}, {{"t": [{at + k % 4 * 2 + 2}, {at + k % 4 * 2 + 3}]}}]' for k in range(i, i + 4))
            out.write(f'{{"id": {i}, "s": "s", "begin": [{at}, {at + 1}], "ops": [{ops}], "end": [{at + 20}, {at + 21}]}}\n')
    return file


def run(*arguments):
    out = subprocess.run([path('stream'), *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout
    pairs = [line.split() for line in out.splitlines()]
    result = {words[0]: float(words[1]) for words in pairs if words[0] != 'at'}
    result['at'] = {int(words[1]): int(words[2]) for words in pairs if words[0] == 'at'}
    return result


def row(name, file, profile):
    read, watch = run(file), run(file, profile)
    txns, engine = watch['txns'], watch['cpu'] - read['cpu']
    early = watch['at'].get(100000, watch['used'])
    print(f"| {name} | {txns:.0f} | {read['cpu']:.2f} | {watch['cpu']:.2f} | {watch['cpu'] / read['cpu']:.2f} | {txns / watch['cpu'] / 1000:.0f} | "
          f"{txns / engine / 1000:.0f} | {early / 2**20:.1f} | {watch['used'] / 2**20:.1f} | {watch['findings']:.0f} |", flush=True)
    return watch['cpu'], engine


def main():
    n = int(float(sys.argv[1] if len(sys.argv) > 1 else '1') * 1000000)
    build()
    print('| stream | transactions | reading, s | watching, s | ratio | 1,000 a second | parsed | MiB after 100,000 | at the end | findings |\n|---|---|---|---|---|---|---|---|---|---|')
    for store in ('postgresql-rr', 'postgresql-ser'):
        whole, alone = row(store, generated(store, n), store)
        twice, twice_alone = row(f'{store}, twice', generated(store, 2 * n), store)
        read, read_alone = row(f'{store}, a reader of {STATEMENTS:,} statements', with_reader(generated(store, n)), store)
        print(f'\n{store}: twice as many take {twice / whole:.2f} times as long (engine alone {twice_alone / alone:.2f}); '
              f'the reader makes it {read / whole:.2f} times as long (engine alone {read_alone / alone:.2f})\n', flush=True)
    file = idle()
    read, watch = run(file), run(file, 'postgresql-ser')
    print(f"{IDLE:,} keys touched once: {watch['used'] / watch['keys']:.0f} bytes a key, of which {read['used'] / watch['keys']:.0f} for its name")


if __name__ == '__main__':
    main()
