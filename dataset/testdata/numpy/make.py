"""Writes the arrays of this folder with NumPy, and expected.json: what NumPy says is in them.

    python3 -m venv venv && venv/bin/pip install numpy==2.4.6 && venv/bin/python make.py

The test TestNumPy reads every file named in expected.json. Values are NumPy's own
conversion to float32, labels are NumPy's decimal form of each number.
"""

import json
import numpy as np
from numpy.lib import format as npy

assert np.__version__ == "2.4.6", np.__version__

expected = {}


def rows(array):
    """The vectors of an array: the first dimension counts them, the others are flattened."""
    flat = array.reshape(array.shape[0], -1) if array.size else array
    return [[float(v) for v in row.astype(np.float32)] for row in flat]


def write(name, array, version=None, refused=""):
    with open(name, "wb") as f:
        npy.write_array(f, array, version=version)
    expected[name] = {"refused": refused} if refused else {"rows": rows(array)}


def numbers(dtype):
    """Three rows of four, with the ends of the type's range and, of floats, values to be rounded."""
    t = np.dtype(dtype)
    if t.kind == "b":
        return np.array([[0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 1]], dtype=t)
    if t.kind in "iu":
        i = np.iinfo(t)
        if t.itemsize == 8:  # rounded once, the first goes up; through float64 it would go down
            return np.array([[2**60 + 2**36 + 1, 2**60 + 2**36, 2**53 + 1, 0], [i.min, i.max, i.max - 1, 5]], dtype=t)
        return np.array([[0, 1, 2, 3], [i.min, i.max, i.max - 1, i.max // 3], [i.min // 7, 100, 7, i.max // 2 + 1]], dtype=t)
    halves = [[1 + 2.0**-24, 1 + 3 * 2.0**-24, 1 + 2.0**-24 + 2.0**-50, -1 - 2.0**-24]]
    return np.array(halves + [[0.1, -0.0, 1e-45, 1e-46], [3.4028234e38, -3.4028234e38, np.pi, 1 / 3]], dtype=t)


for t in ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"]:
    write(f"{t}.npy", numbers(t))
for version in [(1, 0), (2, 0), (3, 0)]:
    write(f"version{version[0]}.npy", numbers("f4"), version=version)
write("three-dimensions.npy", np.arange(24, dtype="f4").reshape(2, 3, 4))
write("one-dimension.npy", np.arange(5, dtype="i4"))
write("one-column.npy", np.arange(5, dtype="f8").reshape(5, 1) / 3)
write("sliced.npy", np.arange(40, dtype="f4").reshape(5, 8)[::2, 1::3])
write("no-rows.npy", np.zeros((0, 4), dtype="f4"))

write("fortran.npy", np.asfortranarray(numbers("f4")), refused="Fortran order")
write("big-endian-f4.npy", numbers(">f4"), refused="little-endian")
write("big-endian-i2.npy", numbers(">i2"), refused="little-endian")
write("half.npy", np.ones((2, 2), dtype="f2"), refused="little-endian")
write("complex.npy", np.ones((2, 2), dtype="c8"), refused="little-endian")
write("text.npy", np.array([["a", "b"]]), refused="little-endian")
write("structure.npy", np.zeros(2, dtype=[("a", "f4"), ("b", "i4")]), refused="header")
write("scalar.npy", np.array(1.5), refused="no dimension")
write("nan.npy", np.array([[1, np.nan]], dtype="f4"), refused="finite")
write("infinity.npy", np.array([[1, -np.inf]], dtype="f8"), refused="finite")
write("beyond-float32.npy", np.array([[1, 1e39]], dtype="f8"), refused="float32")

x, y = numbers("f8"), np.array([-5, 0, 9_007_199_254_740_993], dtype="i8")
labels = np.array([0.1, 1e-7, 2.5e20])
for name, save in [("stored.npz", np.savez), ("deflated.npz", np.savez_compressed)]:
    save(name, X=x, y=y, other=labels)
    expected[name] = {"rows": rows(x), "labels": [str(v) for v in y]}

with open("expected.json", "w") as f:
    json.dump(expected, f, indent=1)
    f.write("\n")
