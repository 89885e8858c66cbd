"""A fit of k-means by FAISS and by scikit-learn, one thread, from the first rows: what `rounds` does beside it."""

import argparse
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "peers"))
import data  # noqa: E402

args = argparse.ArgumentParser()
for name, default in (("n", 500_000), ("d", 32), ("k", 256), ("rounds", 50), ("groups", 0), ("seed", 1)):
    args.add_argument("--" + name, type=int, default=default)
args.add_argument("--who", default="faiss")
args.add_argument("--algorithm", default="lloyd")
a = args.parse_args()
x = data.normals(a.seed, 0, a.n, a.d)
if a.groups:
    import numpy as np

    x += 10 * data.normals(a.seed, 1, a.groups, a.d)[np.arange(a.n) % a.groups]
start = x[: a.k].copy()


def by_faiss(rounds):
    import faiss

    faiss.omp_set_num_threads(1)
    fit = faiss.Kmeans(a.d, a.k, niter=rounds, max_points_per_centroid=a.n, min_points_per_centroid=1)
    fit.train(x, init_centroids=start)
    return rounds


def by_sklearn(rounds):
    import warnings

    import threadpoolctl
    from sklearn.cluster import KMeans

    warnings.simplefilter("ignore")
    with threadpoolctl.threadpool_limits(1):
        fit = KMeans(a.k, init=start, n_init=1, max_iter=rounds, tol=0, algorithm=a.algorithm, copy_x=False)
        return fit.fit(x).n_iter_


fit = {"faiss": by_faiss, "sklearn": by_sklearn}[a.who]
fit(1)  # imports, first touch
times = {}
for rounds in (1, 5, a.rounds):
    began = time.perf_counter()
    made = fit(rounds)
    times[rounds] = (time.perf_counter() - began) * 1000
print(json.dumps({"who": a.who, "ms": times[a.rounds], "rounds": made, "marginal": (times[5] - times[1]) / 4}))
