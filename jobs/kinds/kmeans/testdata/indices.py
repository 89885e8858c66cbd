"""Writes indices.json: distances to all centers and indices of clusterings, by scikit-learn.

    python3 indices.py

A record of weight w is w equal records to scikit-learn. Centers are those of KMeans with the given start, or after one
round the means of a first assignment. They are in lexicographic order, as Gram numbers them. Labels are the nearest
centers, the lower number at a tie. All is of the data less a whole number in each column, which changes no distance:
KMeans.transform and davies_bouldin_score compute distances as x^2 - 2xc + c^2, which loses digits far from zero. Of
"far from zero" as it is, scikit-learn's Davies-Bouldin index is 2e-7 off.
"""

import json
import warnings

import numpy as np
import sklearn
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score

warnings.simplefilter("error")
warnings.simplefilter("ignore", ConvergenceWarning)
rng = np.random.default_rng(20)


def blobs(n, width, k, spread):
    """Points around k centers, as float32 numbers."""
    centers = rng.uniform(-5, 5, (k, width))
    return (centers[np.arange(n) % k] + spread * rng.standard_normal((n, width))).astype(np.float32).astype(float)


def nearest(x, centers):
    return np.argmin(((x[:, None] - centers[None]) ** 2).sum(2), axis=1)


def lexicographic(centers):
    return centers[np.lexsort(centers.T[::-1])]


def case(name, x, start, weights=None, rounds=300):
    x, start = np.asarray(x, float), np.asarray(start, float)
    w = np.ones(len(x), int) if weights is None else np.asarray(weights)
    repeated = np.repeat(x, w, axis=0)
    shift = np.round(repeated.mean(0))
    if rounds == 1:
        first = nearest(repeated, start)
        centers = np.array([repeated[first == j].mean(0) for j in range(len(start))])
        model = KMeans(len(start), init=centers - shift, n_init=1, max_iter=1).fit(repeated - shift)
        model.cluster_centers_ = lexicographic(centers) - shift
    else:
        model = KMeans(len(start), init=start - shift, n_init=1, max_iter=rounds, tol=0).fit(repeated - shift)
        model.cluster_centers_ = lexicographic(model.cluster_centers_)
    labels = nearest(x - shift, model.cluster_centers_)
    all_labels = np.repeat(labels, w)
    return {
        "name": name, "rows": x.tolist(), "weights": None if weights is None else w.tolist(),
        "start": start.tolist(), "rounds": rounds, "labels": labels.tolist(),
        "distances": model.transform(x - shift).tolist(),
        "calinski_harabasz": calinski_harabasz_score(repeated - shift, all_labels),
        "davies_bouldin": davies_bouldin_score(repeated - shift, all_labels),
    }


grid = [[i, j] for i in (0, 1, 2, 10, 11, 12) for j in (0, 1, 2)]
apart = blobs(40, 3, 4, 0.7)
scales = blobs(50, 4, 3, 1.0) * [1, 1e4, 1e-3, 1]
scales = scales.astype(np.float32).astype(float)
far = (blobs(40, 2, 3, 0.5) + [100_000, -300_000]).astype(np.float32).astype(float)
heavy = blobs(30, 3, 3, 1.0)
alone = np.vstack([blobs(12, 2, 2, 0.4), [[40, 40]], [[-60, 3]]])
cases = [
    case("blobs", apart, apart[:4]),
    case("one round", apart, 0.8 * apart[:4] + 0.5, rounds=1),
    # 4 is as far from the last centers, 2 and 6: it is in the first cluster
    case("ties", [[0], [4], [6], [6]], [[1], [8]]),
    case("grid", grid, [[1, 1], [11, 1]]),
    case("columns of other scales", scales, scales[:3]),
    case("far from zero", far, far[:3]),
    case("clusters of one record", alone, alone[[0, 1, 12, 13]]),
    case("equal records", [[1, 1]] * 4 + [[3, 1]] * 3 + [[9, 2]], [[1, 1], [3, 1], [9, 2]]),
    case("weights", heavy, heavy[:3], weights=[1 + i % 4 for i in range(30)]),
    case("weights of 0", alone, alone[[0, 1, 12, 13]], weights=[i % 3 for i in range(12)] + [2, 1]),
]
with open("indices.json", "w", encoding="utf-8") as out:
    json.dump({"scikit-learn": sklearn.__version__, "cases": cases}, out, separators=(",", ":"))
    out.write("\n")
