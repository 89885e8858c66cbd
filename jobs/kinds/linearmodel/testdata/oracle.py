"""Writes oracle.json: what scikit-learn makes of the irises, the bias being the weight of a column of ones.

Regression predicts the width of the petals from the other columns. Run here, with scikit-learn 1.9.1.
"""

import csv
import json
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVR

warnings.simplefilter("ignore")
rows = list(csv.reader(open("../../../../testdata/iris.csv")))[1:]
values = np.array([row[:4] for row in rows], dtype=np.float32).astype(np.float64)
targets = np.array([float(row[3]) for row in rows])
columns = np.column_stack([values[:, :3], np.ones(len(rows))])


def primal(w, losses, c):
    return float(w @ w / 2 + c * losses.sum())


def regression(name, c, epsilon):
    if name == "squared":
        w = Ridge(alpha=1 / (2 * c), fit_intercept=False, solver="cholesky").fit(columns, targets).coef_
    else:
        w = min((LinearSVR(C=c, epsilon=epsilon, loss=name, dual=True, tol=1e-13, max_iter=1_000_000,
                           fit_intercept=False, random_state=seed).fit(columns, targets).coef_ for seed in range(3)),
                key=lambda w: primal(w, losses(name, w, epsilon), c))
    return {"loss": name, "C": c, "epsilon": epsilon, "primal": primal(w, losses(name, w, epsilon), c),
            "weights": list(w)}


def losses(name, w, epsilon):
    off = np.maximum(0, np.abs(targets - columns @ w) - epsilon)
    return off if name == "epsilon_insensitive" else off**2


def logistic(c):
    x = np.column_stack([values, np.ones(len(rows))])
    machines = []
    for label in sorted({row[4] for row in rows}):
        y = np.array([1.0 if row[4] == label else -1.0 for row in rows])
        w = LogisticRegression(C=c, tol=1e-14, max_iter=10_000, solver="newton-cholesky",
                               fit_intercept=False).fit(x, y).coef_[0]
        machines.append({"primal": primal(w, np.logaddexp(0, -y * (x @ w)), c), "weights": list(w)})
    return {"C": c, "machines": machines}


found = {"regression": [regression(name, c, epsilon) for name, c, epsilon in [
    ("squared", 0.5, 0), ("squared", 100, 0), ("epsilon_insensitive", 1, 0.1), ("epsilon_insensitive", 0.01, 0.1),
    ("epsilon_insensitive", 1, 0), ("squared_epsilon_insensitive", 1, 0.1), ("squared_epsilon_insensitive", 1, 0.3)]],
    "logistic": [logistic(c) for c in (0.1, 10)]}
json.dump(found, open("oracle.json", "w"), indent=1)
