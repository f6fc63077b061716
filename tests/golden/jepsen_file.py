#!/usr/bin/env python3
"""A test of Jepsen in its block format, made of a history as EDN: for tests of the reader of such files.

    jepsen_file.py [--version 0|1] [--chunk N] [--piece N] HISTORY.EDN >test.jepsen

Version 0 has the operations as maps in one list; version 1, the default, as values of the tag
jepsen.history.Op in blocks of N (100) operations, and a vector of them. Strings of more than N bytes (65536)
are written in pieces. Written from the descriptions of both formats (docs/formats/elle.md names them); what
Jepsen writes, this writes alike: short codes where they fit, names of keywords, :type and :f kept and named
by their numbers, tags told once.
"""
import argparse
import re
import struct
import sys
import uuid
import zlib

TOKEN = re.compile(r'[\s,]+|;[^\n]*|(#\{|#_|#[\w./-]+|[()\[\]{}]|"(?:[^"\\]|\\.)*"|\\(?:\w+|.)|[^\s,()\[\]{}";]+)')
CLOSE = {"(": ")", "[": "]", "{": "}", "#{": "}"}
WORDS = {"nil": None, "true": True, "false": False}
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "\\": "\\", "/": "/"}


class Keyword(str):
    pass


class Symbol(str):
    pass


class Character(str):
    pass


class Pairs(list):
    """A map: keys may be lists."""


class Set(list):
    pass


class Entry(list):
    """A pair that Clojure took out of a map."""


def string(text):
    return re.sub(r"\\(u[0-9a-fA-F]{4}|.)", lambda m: chr(int(m[1][1:], 16)) if m[1][0] == "u" and len(m[1]) == 5 else ESCAPES[m[1]], text[1:-1], flags=re.S)


def atom(token):
    if token in WORDS:
        return WORDS[token]
    if token[0] == '"':
        return string(token)
    if token[0] == "\\":
        return Character(token[1:])
    if token[0] == ":":
        return Keyword(token[1:])
    if re.fullmatch(r"[-+]?\d+N?", token):
        return int(token.rstrip("N"))
    if re.fullmatch(r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?", token):
        return float(token)
    return Symbol(token)


def forms(tokens, close=None):
    """The values up to a bracket; what a tag says but of #uuid is not looked at."""
    out, tag = [], None
    for token in tokens:
        if token == close:
            return out
        if token == "#_" or (token[0] == "#" and token != "#{"):
            tag = token
            continue
        if token in CLOSE:
            value = {"{": Pairs, "#{": Set}.get(token, list)(forms(tokens, CLOSE[token]))
        else:
            value = atom(token)
        if tag != "#_":
            out.append(uuid.UUID(value) if tag == "#uuid" else value)
        tag = None
    return out


class Writer:
    """Fressian, whose caches last for a block."""

    def __init__(self, piece):
        self.out, self.kept, self.tags, self.piece = bytearray(), {}, {}, piece

    def int(self, n):
        if n == -1 or 0 <= n < 64:
            self.out.append(n & 0xFF)
            return
        for more, zero in enumerate((0x50, 0x68, 0x72, 0x76, 0x7A, 0x7E), 1):
            low = {1: 0x40, 2: 0x60, 3: 0x70, 4: 0x74, 5: 0x78, 6: 0x7C}[more]
            if low - zero <= n >> 8 * more < zero - low:
                self.out.append(zero + (n >> 8 * more))
                self.out += (n & (1 << 8 * more) - 1).to_bytes(more, "big")
                return
        self.out += b"\xf8" + n.to_bytes(8, "big", signed=True)

    def bytes(self, data):
        if len(data) < 8:
            self.out.append(0xD0 + len(data))
        else:
            self.out.append(0xD9)
            self.int(len(data))
        self.out += data

    def text(self, text):
        units = [unit.encode("utf-8", "surrogatepass") for c in text for unit in
                 ([c] if ord(c) < 0x10000 else [chr(0xD800 + (ord(c) - 0x10000 >> 10)), chr(0xDC00 + (ord(c) & 0x3FF))])]
        while True:
            part = b""
            while units and len(part) + len(units[0]) <= self.piece:
                part += units.pop(0)
            if units:
                self.out.append(0xE2)
                self.int(len(part))
            elif len(part) < 8:
                self.out.append(0xDA + len(part))
            else:
                self.out.append(0xE3)
                self.int(len(part))
            self.out += part
            if not units:
                return

    def list(self, values):
        if len(values) < 8:
            self.out.append(0xE4 + len(values))
        else:
            self.out.append(0xEC)
            self.int(len(values))
        for value in values:
            self.value(value)

    def tag(self, name, fields):
        if name not in self.tags:
            self.tags[name] = len(self.tags)
            self.out.append(0xEF)
            self.text(name)
            self.int(fields)
        elif self.tags[name] < 16:
            self.out.append(0xA0 + self.tags[name])
        else:
            self.out.append(0xF0)
            self.int(self.tags[name])

    def keep(self, value):
        """Told once, then by its number."""
        if value is None or value == "" or isinstance(value, bool):
            return self.value(value)
        key = type(value), repr(value)
        if key not in self.kept:
            self.kept[key] = len(self.kept)
            self.out.append(0xCD)
            self.value(value)
        elif self.kept[key] < 32:
            self.out.append(0x80 + self.kept[key])
        else:
            self.out.append(0xCC)
            self.int(self.kept[key])
        return None

    def name(self, code, name):
        space, slash, rest = name.partition("/")
        self.out.append(code)
        self.keep(space if slash and rest else None)
        self.keep(rest if slash and rest else str(name))

    def number(self, value):
        if value in (0.0, 1.0):
            self.out.append(0xFB if value == 0 else 0xFC)
        else:
            self.out += b"\xfa" + struct.pack(">d", value)

    def value(self, value):
        if value is None or isinstance(value, bool):
            self.out.append({True: 0xF5, False: 0xF6, None: 0xF7}[value])
        elif isinstance(value, int) and -(1 << 63) <= value < 1 << 63:
            self.int(value)
        elif isinstance(value, int):
            self.out.append(0xC6)
            self.bytes(value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True))
        elif isinstance(value, float):
            self.number(value)
        elif isinstance(value, Keyword):
            self.name(0xCA, value)
        elif isinstance(value, Symbol):
            self.name(0xC9, value)
        elif isinstance(value, Character):
            self.tag("char", 1)
            self.int(ord(value[0]))
        elif isinstance(value, uuid.UUID):
            self.out.append(0xC3)
            self.bytes(value.bytes)
        elif isinstance(value, Pairs):
            self.out.append(0xC0)
            self.list(value)
        elif isinstance(value, Set):
            self.tag("persistent-hash-set", 1)
            self.value(list(value) or None)
        elif isinstance(value, Entry):
            self.tag("map-entry", 2)
            for part in value:
                self.value(part)
        elif isinstance(value, str):
            self.text(value)
        else:
            self.list(value)

    def operation(self, fields):
        """Of Jepsen's record: index, time, type, process, f, value, and a map of others."""
        rest = dict(zip((str(k) for k in fields[::2]), fields[1::2]))
        self.tag("jepsen.history.Op", 7)
        self.int(rest.pop("index", -1))
        self.int(rest.pop("time", -1))
        self.keep(rest.pop("type", None))
        self.value(rest.pop("process", None))
        self.keep(rest.pop("f", None))
        value = rest.pop("value", None)
        pair = type(value) is list and len(value) == 2 and not isinstance(value[0], list)
        self.value(Entry(value) if pair else value)
        self.value(Pairs(x for pair in rest.items() for x in (Keyword(pair[0]), pair[1])) if rest else None)


class File:
    def __init__(self, version):
        self.out = bytearray(b"JEPSEN" + struct.pack(">iq", version, 0))
        self.places = {}

    def block(self, number, kind, data):
        head = struct.pack(">qih", 28 + len(data), 0, kind) + bytes(14)
        crc = zlib.crc32(head, zlib.crc32(data))
        self.places[number] = len(self.out)
        self.out += head[:8] + struct.pack(">I", crc) + head[12:] + data

    def close(self, root):
        index = struct.pack(">i", root) + b"".join(struct.pack(">iq", *pair) for pair in self.places.items())
        self.block(max(self.places) + 1, 1, index)
        self.out[10:18] = struct.pack(">q", self.places[max(self.places)])
        return bytes(self.out)


def write(operations, version, chunk, piece):
    file = File(version)
    if version == 0:
        writer = Writer(piece)
        writer.list(operations)
        file.block(1, 2, bytes(writer.out))
    else:
        chunks = [operations[i:i + chunk] for i in range(0, len(operations), chunk)]
        for i, part in enumerate(chunks):
            writer = Writer(piece)
            for operation in part:
                writer.operation(operation)
            file.block(i + 3, 4, bytes(writer.out))
        file.block(1, 5, struct.pack(">q", len(operations)) + b"".join(struct.pack(">qi", i * chunk, i + 3) for i in range(len(chunks))))
    writer = Writer(piece)
    writer.out.append(0xC0)  # the test: a map, with some of what such maps have
    writer.out.append(0xEC)
    writer.int(8)
    writer.value(Keyword("name"))
    writer.value("made for krait")
    writer.value(Keyword("start-time"))
    writer.tag("date-time", 1)
    writer.value("20260101T000000.000Z")
    writer.value(Keyword("history"))
    writer.tag("block-ref", 1)
    writer.value(1)
    writer.value(Keyword("nodes"))
    writer.value(["n1", "n2", "n3"])
    file.block(2, 2, bytes(writer.out))
    return file.close(2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--version", type=int, default=1)
    parser.add_argument("--chunk", type=int, default=100)
    parser.add_argument("--piece", type=int, default=65536)
    parser.add_argument("history")
    args = parser.parse_args()
    with open(args.history, encoding="utf-8-sig") as file:
        operations = forms(iter([m[1] for m in TOKEN.finditer(file.read()) if m[1]]))
    if len(operations) == 1 and not isinstance(operations[0], Pairs):
        operations = operations[0]  # all in one list
    sys.stdout.buffer.write(write(operations, args.version, args.chunk, args.piece))


if __name__ == "__main__":
    main()
