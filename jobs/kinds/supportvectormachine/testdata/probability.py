"""Makes probability.json: probabilities of irises, by machines of scikit-learn 1.9.1 on five folds, sigmoids that scipy fits to
their decisions, and the coupling of Wu, Lin and Weng as a system of linear equations.

FOLDS are those of the tests' records (TestFolds). Run it in this folder: python3 probability.py.
"""
import csv
import itertools
import json

import numpy as np
from scipy.optimize import minimize
from sklearn.svm import SVC

FOLDS = ("442545443315433544143431353511341424534254152125221332531521351255131115533543134151332545545323211413142314244512"
         "322155345414123345222235531254332522")
rows = list(csv.reader(open("../../../../testdata/iris.csv")))[1:]
values = np.array([row[:4] for row in rows], dtype=np.float32).astype(np.float64)
labels = np.array([int(row[4]) for row in rows])


def sigmoid(f, y):
    """A and B of the least negative log likelihood, with Platt's targets."""
    plus, minus = (y > 0).sum(), (y < 0).sum()
    target = np.where(y > 0, (plus + 1) / (plus + 2), 1 / (minus + 2))

    def loss(v):
        t = v[0] * f + v[1]
        p = 1 / (1 + np.exp(t))
        return (target * t + np.logaddexp(0, -t)).sum(), np.array([(f * (target - p)).sum(), (target - p).sum()])

    return minimize(loss, [0, np.log((minus + 1) / (plus + 1))], jac=True, method="BFGS", options={"gtol": 1e-9}).x


def machine(x, y, C, gamma):
    return SVC(C=C, gamma=gamma, tol=1e-8).fit(x, y)


def couple(r):
    """The second method: minimize the sum of (r_ji p_i - r_ij p_j)^2 where the p add up to 1."""
    n = len(r)
    q = np.array([[(sum(r[j][i] ** 2 for j in range(n) if j != i) if i == j else -r[j][i] * r[i][j]) for j in range(n)]
                  for i in range(n)])
    system = np.block([[q, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    return np.linalg.solve(system, [0] * n + [1])[:n]


def probabilities(classes, C, gamma):
    chosen = np.isin(labels, classes)
    x, of = values[chosen], labels[chosen]
    folds = np.array([int(c) for c in FOLDS[:len(of)]])
    sigmoids, r = [], np.zeros((len(of), len(classes), len(classes)))
    for first, second in itertools.combinations(classes, 2):
        pair = np.isin(of, (first, second))
        px, py, pf = x[pair], np.where(of[pair] == second, 1, -1), folds[pair]
        held = np.zeros(len(py))
        for fold in range(1, 6):
            held[pf == fold] = machine(px[pf != fold], py[pf != fold], C, gamma).decision_function(px[pf == fold])
        a, b = sigmoid(held, py)
        sigmoids.append([a, b])
        i, j = classes.index(first), classes.index(second)
        p = 1 / (1 + np.exp(a * machine(px, py, C, gamma).decision_function(x) + b))
        r[:, j, i], r[:, i, j] = np.clip(p, 1e-7, 1 - 1e-7), np.clip(1 - p, 1e-7, 1 - 1e-7)
    return {"classes": classes, "C": C, "gamma": gamma, "sigmoids": sigmoids,
            "probabilities": [list(couple(one)) for one in r]}


found = [probabilities([0, 1, 2], 1, 0.25), probabilities([0, 1, 2], 20, 0.05), probabilities([1, 2], 1, 0.25)]
with open("probability.json", "w") as file:
    json.dump(found, file)
    file.write("\n")
