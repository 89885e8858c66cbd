"""Trains UMAP on a graph of kind NeighborGraph: python graph.py GRAM TABLE

GRAM is the binary, TABLE a CSV file of numbers with the label in the last column, such as testdata/digits.csv.gz. Needs
umap-learn and scikit-learn. Holds that the arrays are the graph of scikit-learn's distances with ties by number, that
scipy takes the CSR arrays, that UMAP takes the others as they are, and that its embedding is exactly as trustworthy as
that from scikit-learn's distances. kneighbors itself chooses otherwise among equal distances: its row shows how much
that moves. Prints the rows of a table.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.manifold import trustworthiness
from sklearn.metrics import euclidean_distances
from sklearn.neighbors import NearestNeighbors
from umap import UMAP

K = 15
SEED = 7


def gram(binary, table, columns):
    """Runs the job and returns its arrays by folder."""
    spec = {"apiVersion": "v1", "kind": "NeighborGraph", "metadata": {"name": "graph"},
            "spec": {"input": {"uri": os.path.abspath(table), "format": "csv", "label": columns + 1},
                     "params": {"k": K}, "repro": {"seed": SEED}}}
    with tempfile.TemporaryDirectory() as room:
        path = pathlib.Path(room) / "spec.json"
        path.write_text(json.dumps(spec), encoding="utf-8")
        subprocess.run([binary, "run", "-q", "-f", path, "--out", f"{room}/out"], check=True, capture_output=True)
        job = next(pathlib.Path(room, "out").glob("graph-*"))
        arrays = {}
        for folder in ("indices", "distances", "csr-data", "csr-indices", "csr-indptr"):
            file = f"{room}/{folder}.npy"
            subprocess.run([binary, "get", job.as_uri(), folder, "--out", file], check=True, capture_output=True)
            arrays[folder] = np.load(file)
        return arrays


def led(indices, distances):
    """The arrays with each record first in its row."""
    own = np.arange(len(indices))[:, None]
    return np.hstack([own, indices]), np.hstack([np.zeros(own.shape), distances]).astype(np.float32)


def searched(rows):
    """The exact graph of kneighbors, which leaves each record out."""
    distances, indices = NearestNeighbors(n_neighbors=K - 1, algorithm="brute").fit(rows).kneighbors()
    return led(indices, distances)


def sorted_all(rows):
    """The graph of all distances: of equally near records the first."""
    all_distances = euclidean_distances(rows.astype(np.float64))
    np.fill_diagonal(all_distances, np.inf)
    indices = np.argsort(all_distances, axis=1, kind="stable")[:, :K - 1]
    return led(indices, np.take_along_axis(all_distances, indices, axis=1))


def check_graph(arrays, indices, distances):
    """Compares the arrays with those of scikit-learn's distances."""
    n = len(indices)
    assert arrays["indices"].shape == arrays["distances"].shape == (n, K)
    assert (arrays["indices"][:, 0] == np.arange(n)).all() and (arrays["distances"][:, 0] == 0).all()
    np.testing.assert_array_equal(arrays["indices"], indices)
    np.testing.assert_allclose(arrays["distances"], distances, rtol=1e-6)
    sparse = csr_matrix((arrays["csr-data"], arrays["csr-indices"], arrays["csr-indptr"]), shape=(n, n))
    assert sparse.nnz == n * (K - 1) and sparse.diagonal().sum() == 0
    np.testing.assert_array_equal(sparse.indices.reshape(n, K - 1), arrays["indices"][:, 1:])
    np.testing.assert_array_equal(sparse.data.reshape(n, K - 1), arrays["distances"][:, 1:])


def embed(rows, knn):
    """Trains UMAP. Without an index it warns that it cannot transform; that it leaves the graph out is an error."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*will be ignored.*")
        return UMAP(n_neighbors=K, precomputed_knn=knn, random_state=SEED).fit_transform(rows)


def main(binary, table):
    cells = np.loadtxt(table, delimiter=",", dtype=np.float32)
    rows = cells[:, :-1]
    arrays = gram(binary, table, rows.shape[1])
    ours, theirs = (arrays["indices"], arrays["distances"]), sorted_all(rows)
    check_graph(arrays, *theirs)
    found = {}
    print("| graph | edges | not among Gram's | trustworthiness of UMAP |")
    print("|---|---|---|---|")
    for name, knn in (("Gram", ours), ("scikit-learn, ties by number", theirs), ("kneighbors", searched(rows))):
        differ = sum(len(set(a) - set(b)) for a, b in zip(knn[0], ours[0]))
        found[name] = trustworthiness(rows, embed(rows, knn), n_neighbors=K)
        print(f"| {name} | {len(rows) * (K - 1)} | {differ} | {found[name]:.6f} |", flush=True)
    if found["Gram"] != found["scikit-learn, ties by number"]:
        sys.exit("the embeddings are not as trustworthy as each other")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
