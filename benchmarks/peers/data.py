"""The data of the workloads: the same numbers as data.go makes.

The i-th word of a stream is SplitMix64 at a counter, so that a matrix is a function of
(seed, stream, shape) in any language. A number is the sum of the word's four 16-bit
parts, centred and scaled by a power of two: about normal, variance 4/3, exact in float32.
"""

import os

import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
PART = np.uint64(0xFFFF)
CHUNK = 1 << 22  # words mixed at once, so that memory is that of the result


def words(seed, stream, start, count):
    """The words start .. start+count-1 of a stream, uint64."""
    with np.errstate(over="ignore"):
        base = np.uint64(seed) * FIRST + np.uint64(stream) * SECOND
        z = base + np.arange(start + 1, start + count + 1, dtype=np.uint64) * GOLDEN
        z = (z ^ (z >> np.uint64(30))) * FIRST
        z = (z ^ (z >> np.uint64(27))) * SECOND
    return z ^ (z >> np.uint64(31))


def normals(seed, stream, *shape):
    """An array of about normal float32."""
    out = np.empty(int(np.prod(shape)), dtype=np.float32)
    for start in range(0, out.size, CHUNK):
        part = out[start : start + CHUNK]
        z = words(seed, stream, start, part.size)
        total = np.zeros(part.size, dtype=np.int64)
        for shift in (0, 16, 32, 48):
            total += ((z >> np.uint64(shift)) & PART).astype(np.int64)
        part[:] = (total - 131070) * np.float32(2.0**-15)
    return out.reshape(shape)


def columns(seed, stream, rows, filled, width):
    """Ascending column numbers, filled a row: one in each of as many equal strips."""
    strip = width // filled
    z = words(seed, stream, 0, rows * filled).reshape(rows, filled)
    within = ((z >> np.uint64(32)) * np.uint64(strip)) >> np.uint64(32)
    return (within.astype(np.int64) + np.arange(filled) * strip).astype(np.int32)


def counts(seed, stream, n):
    """Whole numbers from 1 to 4."""
    return (words(seed, stream, 0, n) >> np.uint64(62)).astype(np.float32) + 1


def small(seed, stream, *shape):
    """Whole numbers from -8 to 7."""
    z = words(seed, stream, 0, int(np.prod(shape)))
    return ((z >> np.uint64(60)).astype(np.float32) - 8).reshape(shape)


def pictures(name):
    """Pictures of MNIST as rows of float32, and their labels; `make data` fetches them."""
    folder = os.environ.get("GRAM_BENCH_MNIST", "data/mnist")
    x = np.fromfile(os.path.join(folder, f"{name}-images-idx3-ubyte"), dtype=np.uint8)[16:]
    y = np.fromfile(os.path.join(folder, f"{name}-labels-idx1-ubyte"), dtype=np.uint8)[8:]
    return x.reshape(len(y), -1).astype(np.float32), y
