"""Makes novelty.json: small data sets with the distances, log densities and AUCs of scikit-learn 1.9.1.

Run it in this folder: python3 novelty.py.
"""
import json

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KernelDensity, NearestNeighbors

random = np.random.default_rng(17)


def ties(n):
    return np.round(2 * random.normal(size=(n, 2)))


def tight(n):
    return 1e-3 * random.normal(size=(n, 3)) + 1e4 * random.integers(-1, 2, size=(n, 3))


sets = [
    ("cloud", random.normal(size=(90, 4)), 4, 0.7),
    ("ties", ties(90), 3, 0.5),
    ("far from zero", random.normal(size=(90, 2)) + 1e6, 5, 0.3),
    ("tight groups far apart", tight(90), 2, 0.01),
    ("columns of other scale", random.normal(size=(90, 3)) * [1e-3, 1, 1e3], 1, 20.0),
]
cases = []
for name, x, k, bandwidth in sets:
    x = x.astype(np.float32).astype(np.float64)
    train, queries = x[:60], x[60:]
    novel = np.arange(30) % 3 == 0
    queries[novel] = (queries[novel] + bandwidth * random.normal(size=queries[novel].shape)).astype(np.float32)
    distances = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(train).kneighbors(queries)[0][:, -1]
    exact = np.sort(np.sqrt(((queries[:, None, :] - train[None, :, :]) ** 2).sum(axis=2)), axis=1)[:, k - 1]
    assert np.abs(distances - exact).max() <= 1e-3 * np.abs(x).max()  # brute force goes by products, off far from zero
    density = KernelDensity(bandwidth=bandwidth, algorithm="kd_tree", rtol=0, atol=0).fit(train).score_samples(queries)
    cases.append({
        "name": name, "k": k, "bandwidth": bandwidth, "novel": novel.tolist(), "distances": exact.tolist(),
        "densities": density.tolist(), "auc": roc_auc_score(novel, exact),
        "train": [[float("%.9g" % v) for v in row] for row in train],
        "queries": [[float("%.9g" % v) for v in row] for row in queries],
    })
with open("novelty.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
