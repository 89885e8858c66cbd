"""Makes the two data sets of the benchmark of LinearModel: python sets.py DIRECTORY

dense.npy and dense-labels.npy   500,000 x 54, about normal, columns of scales from 1/8 to 8
sparse.libsvm                    200,000 x 100,000, 110 non-zeros a row, of even columns, rows of length 1

A label is the side of a hidden plane, with noise. The numbers are those of benchmarks/peers/data.py.
"""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "peers"))
import data  # noqa: E402

SEED = 28
DENSE, SPARSE, FILLED = (500_000, 54), (200_000, 100_000), 110


def sides(scores, stream):
    """Labels +1 and -1, with noise as large as the scores."""
    noise = data.normals(SEED, stream, scores.size)
    return np.where(scores / scores.std() + noise > 0, 1, -1).astype(np.int64)


def dense():
    x = data.normals(SEED, 1, *DENSE)
    w = data.normals(SEED, 2, DENSE[1]).astype(np.float64)
    y = sides(x @ w, 3)
    scale = np.exp2(np.arange(DENSE[1]) % 7 - 3).astype(np.float32)
    return x * scale, y


def sparse():
    """Columns and values, [rows, FILLED] both, and labels."""
    rows, width = SPARSE
    index = data.columns(SEED, 4, rows, FILLED, width)
    values = np.round(data.normals(SEED, 5, rows, FILLED) / 12, 4)  # so that rows are about 1 long
    w = data.normals(SEED, 6, width).astype(np.float64)
    return index, values, sides((values * w[index]).sum(axis=1), 7)


def write_sparse(path):
    index, values, y = sparse()
    with open(path, "w", encoding="ascii") as out:
        for row, columns, of in zip(y.tolist(), (index + 1).tolist(), values.tolist()):
            pairs = " ".join([f"{j}:{v:.4f}" for j, v in zip(columns, of)])
            out.write(f"{row} {pairs}\n")


def main(directory):
    os.makedirs(directory, exist_ok=True)
    x, y = dense()
    np.save(os.path.join(directory, "dense.npy"), x)
    np.save(os.path.join(directory, "dense-labels.npy"), y)
    write_sparse(os.path.join(directory, "sparse.libsvm"))


if __name__ == "__main__":
    main(sys.argv[1])
