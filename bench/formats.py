"""Writes a history of about so many megabytes in one of the formats that krait reads: python3 bench/formats.py FORMAT MEGABYTES OUT

The same run for every format: 16 sessions, transactions of 8 operations, one after the other, half of them reads, of the last value. Registers: 100,000 keys, written
with numbers that do not repeat. Lists (names that end in -lists): a key is given up for a new one after 12 elements, as Jepsen's generator does. OUT is a file, or a folder where the format is one.
"""
import os
import random
import struct
import sys

SESSIONS, OPS, KEYS, LENGTH = 16, 8, 100000, 12


def registers(random):
    """Yields transactions: a session and [(is write, key, value)], the value 0 where nothing was there."""
    last, value = [0] * KEYS, 0
    while True:
        ops = []
        for _ in range(OPS):
            bits = random.getrandbits(40)
            key, write = (bits >> 1) % KEYS, bits & 1
            if write:
                value += 1
                last[key] = value
            ops.append((write, key, last[key]))
        yield random.getrandbits(4), ops


def lists(random):
    """The same with the whole list as what a read returns, and an element as what is written."""
    keys, now, value = 0, [], 0
    while True:
        ops = []
        for _ in range(OPS):
            bits = random.getrandbits(8)
            place, write = (bits >> 1) % 16, bits & 1
            while place >= len(now) or len(now[place][1]) == LENGTH:
                if place < len(now):
                    now.pop(place)
                now.append((keys, []))
                keys += 1
                place = len(now) - 1 if place >= len(now) else place
            key, elements = now[place]
            if write:
                value += 1
                elements.append(value)
            ops.append((write, key, value if write else elements[:]))
        yield random.getrandbits(4), ops


def native(t, s, ops):
    names = ",".join('["%s",%d,%s]' % ("w" if w else "r", k, v or "null") for w, k, v in ops)
    return '{"id":%d,"s":%d,"ops":[%s]}\n' % (t, s, names)


def native_lists(t, s, ops):
    names = ",".join('["%s",%d,%s]' % ("append" if w else "r", k, v) for w, k, v in ops)
    return '{"id":%d,"s":%d,"ops":[%s]}\n' % (t, s, names)


def elle(t, s, ops):
    names = " ".join("[:%s %d %s]" % ("w" if w else "r", k, v or "nil") for w, k, v in ops)
    return "{:type :ok, :process %d, :f :txn, :value [%s], :index %d}\n" % (s, names, t)


def elle_lists(t, s, ops):
    names = " ".join("[:%s %d %s]" % ("append" if w else "r", k, str(v).replace(",", "")) for w, k, v in ops)
    return "{:type :ok, :process %d, :f :txn, :value [%s], :index %d}\n" % (s, names, t)


def elle_json(t, s, ops):
    names = ", ".join('["%s", %d, %s]' % ("w" if w else "r", k, v or "null") for w, k, v in ops)
    return '{"type": "ok", "process": %d, "f": "txn", "value": [%s], "index": %d}\n' % (s, names, t)


def plume(t, s, ops):
    return "".join("%s(%d,%d,%d,%d)\n" % ("w" if w else "r", k, v, s, t) for w, k, v in ops)


def awdit(ops):
    return "".join("%s %d %d\n" % ("w" if w else "r", k, v + 1) for w, k, v in ops) + "-----\n"


def dbcop_json(ops):
    names = ", ".join('{"%s": {"variable": %d, "version": %s}}' % ("Write" if w else "Read", k, v or "null") for w, k, v in ops)
    return '{"events": [%s], "committed": true}' % names


def dbcop_hist(ops):
    return "[ %s ]\n" % " ".join("k%d%s%s" % (k, ":=" if w else "==", v or "?") for w, k, v in ops)


def dbcop(ops):
    return struct.pack("<Q", len(ops)) + b"".join(struct.pack("<BQQB", w, k, v, 1) for w, k, v in ops) + b"\1"


def cobra(t, ops):
    init = 0xBEBEEBEE
    body = b"".join(
        struct.pack(">cQQQ", b"W", v + (1 << 40), k * 0x9E3779B97F4A7C15 & (1 << 64) - 1, v)
        if w
        else struct.pack(">cQQQQ", b"R", t if v else init, v + (1 << 40) if v else init, k * 0x9E3779B97F4A7C15 & (1 << 64) - 1, v)
        for w, k, v in ops
    )
    return struct.pack(">cQ", b"S", t) + body + struct.pack(">cQ", b"C", t)


def viper(ops):
    names = ", ".join('["%s", %d, %s, %s]' % ("w" if w else "r", k, v or '"nil"', "true" if w else "false") for w, k, v in ops)
    return '{"value": [%s]}\n' % names


def timekiller(t, s, ops):
    names = ", ".join('{"t": "%s", "k": %d, "v": %s}' % ("w" if w else "r", k, v or "null") for w, k, v in ops)
    return '%s{"tid": %d, "sid": %d, "sts": {"p": %d, "l": 0}, "cts": {"p": %d, "l": 0}, "ops": [%s]}' % ("[" if t == 1 else ",\n", t, s, 2 * t, 2 * t + 1, names)


def veristrong(t, s, ops):
    return "".join("%d %d A %d %d\n" % (s, t, k, v) if w else "%d %d R %d %d %s\n" % (s, t, k, len(v), " ".join(map(str, v))) for w, k, v in ops)


# In the order of the run, with a line for a transaction: the bytes go to one file.
STREAMS = {
    "native": (registers, native), "native-lists": (lists, native_lists), "elle": (registers, elle), "elle-lists": (lists, elle_lists),
    "elle-json": (registers, elle_json), "plume": (registers, plume), "timekiller": (registers, timekiller), "veristrong-lists": (lists, veristrong),
}
# Session by session: how a transaction is written, and the whole of the sessions' transactions.
SESSIONS_OF = {"awdit": awdit, "dbcop-json": dbcop_json, "dbcop-hist": dbcop_hist, "dbcop": dbcop, "viper": viper, "cobra": None}


def write_stream(name, size, out):
    run, text = STREAMS[name]
    pieces, bytes_so_far, ops = [], 0, 0
    for t, (s, txn) in enumerate(run(random.Random(1)), 1):
        pieces.append(text(t, s, txn))
        bytes_so_far += len(pieces[-1])
        ops += len(txn)
        if bytes_so_far >= size:
            break
    with open(out, "w") as file:
        if name == "veristrong-lists":
            file.write("%d\n" % ops)
        file.writelines(pieces)
        if name == "timekiller":
            file.write("]\n")


def write_sessions(name, size, out):
    sessions, bytes_so_far = [[] for _ in range(SESSIONS)], 0
    for t, (s, txn) in enumerate(registers(random.Random(1)), 1):
        piece = cobra(t, txn) if name == "cobra" else SESSIONS_OF[name](txn)
        sessions[s].append(piece)
        bytes_so_far += len(piece)
        if bytes_so_far >= size:
            break
    if name in ("viper", "cobra"):
        os.makedirs(out)
        for s, pieces in enumerate(sessions):
            with open(os.path.join(out, ("J%d.log" if name == "viper" else "T%d.log") % s), "wb") as file:
                file.writelines(piece if isinstance(piece, bytes) else piece.encode() for piece in pieces)
        return
    with open(out, "wb") as file:
        if name == "dbcop":
            date = b"2026-01-01T00:00:00+00:00"
            file.write(struct.pack("<5Q", 1, SESSIONS, KEYS, 0, OPS) + b"".join(struct.pack("<Q", len(x)) + x for x in (b"bench", date, date)) + struct.pack("<Q", SESSIONS))
        for s, pieces in enumerate(sessions):
            if name == "dbcop":
                file.write(struct.pack("<Q", len(pieces)) + b"".join(pieces))
            elif name == "dbcop-json":
                file.write(("[[" if s == 0 else ",\n[").encode() + ",\n".join(pieces).encode() + b"]")
            else:
                file.write(("=====\n" if name == "awdit" else "---\n").encode() + "".join(pieces).encode())
        if name == "dbcop-json":
            file.write(b"]\n")


def main():
    name, megabytes, out = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    if name in STREAMS:
        write_stream(name, megabytes * 1e6, out)
    elif name in SESSIONS_OF:
        write_sessions(name, megabytes * 1e6, out)
    else:
        sys.exit("unknown format %s, expected one of %s" % (name, ", ".join([*STREAMS, *SESSIONS_OF])))


main()
