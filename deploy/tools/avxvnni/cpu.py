"""Runs functions of 64-bit code on an emulated CPU with AVX-VNNI, for TestEmulatedAVXVNNI of package kernelops.

Reads, from standard input, in little-endian words of 64 bits: the length of the code, its bytes, then calls until the end.
A call is the offset of a function, the number of its arguments, and each of them: 0 and a number, or 1, a length and the
bytes that the argument points to. Arguments are passed on the stack, as in Go's ABI0, with a result behind them. Writes,
for each call, the result, and what the bytes of the arguments are afterward. A fault ends the program.
"""
import ctypes
import mmap
import os
import struct
import sys

import bochscpu
import bochscpu.cpu
import bochscpu.memory

PAGE = 4096
SIZE = 8 << 20
BASE = 0x10000000  # the address of the memory: code, data and stack, from low to high
CODE = 1 << 16  # at most
TABLES = 0x1000000
HALT = CODE - 16  # where functions return to
GUARD = 256  # bytes on either side of each argument
FILL = 0xA5


def read(n):
    data = sys.stdin.buffer.read(n)
    if len(data) != n:
        os._exit(0)  # without what the module says about its own memory
    return data


def word():
    return struct.unpack("<Q", read(8))[0]


def segment(selector, attr):
    s = bochscpu.Segment()
    s.present, s.selector, s.base, s.limit, s.attr = True, selector, 0, 0xFFFFFFFF, attr
    return s


class Machine:
    def __init__(self, code):
        self.map = mmap.mmap(-1, SIZE)
        self.memory = memoryview(self.map)
        host = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        self.table = table = bochscpu.memory.PageMapLevel4Table()  # its pages go with it
        for at in range(0, SIZE, PAGE):
            bochscpu.memory.page_insert(BASE + at, host + at)
            table.insert(BASE + at, BASE + at, bochscpu.memory.AccessType.Write.value)
        for hva, gpa in table.commit(TABLES):
            bochscpu.memory.page_insert(gpa, hva)
        assert len(code) < HALT
        self.memory[: len(code)] = code
        self.memory[HALT] = 0xF4
        self.session = bochscpu.Session()
        self.session.missing_page_handler = lambda gpa: sys.exit("no memory at %#x" % gpa)
        self.hook = bochscpu.Hook()
        self.hook.exception = self.fault
        self.hook.hlt = lambda session, *_: session.stop()
        self.faulted = None

    def fault(self, session, _cpu, vector, code):
        self.faulted = vector
        session.stop()

    def state(self, rip, rsp):
        s = bochscpu.State()
        bochscpu.cpu.set_long_mode(s)
        s.cr3 = TABLES
        s.cr4 |= 1 << 18 | 1 << 10 | 1 << 9  # OSXSAVE, and the instructions of vectors
        s.xcr0 = 7  # x87, xmm and ymm are saved
        s.mxcsr = 0x1F80
        s.cs, data = segment(8, 0xA09B), segment(16, 0xC093)
        s.ss = s.ds = s.es = s.fs = s.gs = data
        s.rip, s.rsp, s.rflags = rip, rsp, 2
        return s

    def call(self, offset, arguments):
        """Arguments are numbers and byte strings. Returns the result and the strings afterward."""
        at, places, words = CODE, [], []
        guard = bytes([FILL]) * GUARD
        for a in arguments:
            if isinstance(a, int):
                words.append(a)
                continue
            end = at + GUARD + len(a)
            self.memory[at : end + GUARD] = guard + a + guard
            places.append((at + GUARD, len(a)))
            words.append(BASE + at + GUARD)
            at = (end + GUARD + 7) & ~7
        stack = SIZE - 8 * (len(words) + 16)
        assert at < stack - PAGE
        struct.pack_into("<%dQ" % (len(words) + 1), self.map, stack, BASE + HALT, *words)
        self.session.cpu.state = self.state(BASE + offset, BASE + stack)
        self.session.run([self.hook])
        if self.faulted is not None:
            sys.exit("exception %d at offset %#x" % (self.faulted, self.session.cpu.state.rip - BASE))
        out = [bytes(self.memory[p : p + n]) for p, n in places]
        for p, n in places:
            if self.memory[p - GUARD : p] != guard or self.memory[p + n : p + n + GUARD] != guard:
                sys.exit("wrote beyond an argument")
        return struct.unpack_from("<Q", self.map, stack + 8 * (len(words) + 1))[0], out


def main():
    machine = Machine(read(word()))
    while True:
        offset = word()
        arguments = [read(word()) if word() else word() for _ in range(word())]
        result, after = machine.call(offset, arguments)
        sys.stdout.buffer.write(struct.pack("<Q", result) + b"".join(after))
        sys.stdout.buffer.flush()


main()
