"""Writes the sparse data of the race of neighbors: python sets.py DIRECTORY [SHARE]

texts: rows like texts by tf-idf, of norm 1 (a vocabulary of 60,000 words drawn by Zipf and Mandelbrot's law, half of
each text from one of 200 topics): 20,000 queries and 100,000 records of the base, or a SHARE of both.
wide: 300 queries and 3,000 records of width 20,000, with about 11,000 values that are not 0 in all.
Each is written as libsvm text for Gram, and as npz of scipy for scikit-learn.
"""

import pathlib
import sys

import numpy as np
from scipy import sparse

WORDS, TOPICS, COMMON = 60_000, 200, 20_000


def texts(draw, documents):
    """Counts of words of documents."""
    weight = 1 / (np.arange(WORDS) + 2.7) ** 1.05
    general = np.cumsum(weight / weight.sum())
    own = [draw.choice(np.arange(COMMON // 40, WORDS), 400, replace=False) for _ in range(TOPICS)]
    lengths = np.maximum(8, draw.lognormal(4.3, 0.6, documents).astype(int))
    rows, columns = [], []
    for i, length in enumerate(lengths):
        half = length // 2
        words = np.searchsorted(general, draw.random(length - half))
        topic = own[draw.integers(TOPICS)]
        words = np.concatenate([words, topic[(draw.random(half) ** 2 * len(topic)).astype(int)]])
        rows.append(np.full(length, i))
        columns.append(np.minimum(words, WORDS - 1))
    rows, columns = np.concatenate(rows), np.concatenate(columns)
    counts = sparse.csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape=(documents, WORDS))
    counts.sum_duplicates()
    return counts


def tfidf(counts):
    """As TfidfTransformer(sublinear_tf=True) does, in float32."""
    held = np.bincount(counts.indices, minlength=counts.shape[1])
    weight = np.log((1 + counts.shape[0]) / (1 + held)) + 1
    values = (1 + np.log(counts.data)) * weight[counts.indices]
    rows = sparse.csr_matrix((values, counts.indices, counts.indptr), shape=counts.shape)
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1))).ravel()
    return sparse.diags(1 / np.maximum(norms, 1e-30)).dot(rows).tocsr().astype(np.float32)


def wide(draw):
    held = sparse.random(3300, 20_000, density=11_000 / (3300 * 20_000), format="csr", random_state=draw,
                         dtype=np.float32)
    held.data = np.ceil(held.data * 5).astype(np.float32)
    return held


def write(room, name, table):
    sparse.save_npz(room / f"{name}.npz", table)
    with open(room / f"{name}.libsvm", "w", encoding="ascii") as out:
        for i in range(table.shape[0]):
            begin, end = table.indptr[i], table.indptr[i + 1]
            entries = zip(table.indices[begin:end], table.data[begin:end])
            out.write("0" + "".join(f" {j + 1}:{v:.9g}" for j, v in sorted(entries)) + "\n")


def main(directory, share):
    room = pathlib.Path(directory)
    room.mkdir(parents=True, exist_ok=True)
    queries = int(20_000 * share)
    table = tfidf(texts(np.random.default_rng(7), queries + int(100_000 * share)))
    write(room, "texts-queries", table[:queries])
    write(room, "texts-base", table[queries:])
    print(f"texts: {table.nnz / table.shape[0]:.1f} values a row")
    table = wide(np.random.default_rng(8))
    write(room, "wide-queries", table[:300])
    write(room, "wide-base", table[300:])
    print(f"wide: {table.nnz} values")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1.0)
