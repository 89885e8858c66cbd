"""Makes machines.json: small training sets and the support vector machines that scikit-learn 1.9.1 trains on them.

Run it in this folder: python3 machines.py. Alphas are in parts of the cost of their record; objectives are those of the
dual, in float64, at scikit-learn's coefficients (LIBSVM itself keeps kernel values in float32).
"""
import json
import warnings

import numpy as np
from sklearn.svm import SVC

warnings.simplefilter("error")
random = np.random.default_rng(21)


def gauss(n, width, apart):
    y = np.where(random.random(n) < 0.45, 1, -1)
    return random.normal(size=(n, width)) + apart * y[:, None] * random.normal(size=width), y


def rings(n):
    angle, y = 2 * np.pi * random.random(n), np.where(np.arange(n) % 2 == 0, 1, -1)
    radius = np.where(y > 0, 1, 1.6) + 0.35 * random.normal(size=n)
    return np.c_[radius * np.cos(angle), radius * np.sin(angle)], y


def standardized(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


def far(n):
    x, y = gauss(n, 4, 0.3)
    return standardized(np.exp(1.5 * x) * [1e6, 1e-4, 1, 1e3] + [1e7, 0, -5, 1e5]), y


def tied(n):
    x, y = gauss(n, 2, 0.6)
    return np.round(2 * x) / 2, y  # many equal points, some of both classes


def values(kernel, x):
    products = x @ x.T
    if kernel["kernel"] == "linear":
        return products
    if kernel["kernel"] == "poly":
        return (kernel["gamma"] * products + kernel["coef0"]) ** kernel["degree"]
    squares = ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2)
    return np.exp(-kernel["gamma"] * squares)


def polished(k, y, alpha, costs, bias):
    """LIBSVM keeps kernel values in float32, so the decisions of its machines are off by some 1e-6. This solves for the
    coefficients between the bounds in float64, where the others stay as they are."""
    free = (alpha > 1e-7 * costs) & (alpha < (1 - 1e-7) * costs)
    fixed = np.where(alpha >= (1 - 1e-7) * costs, costs, 0)
    n = free.sum()
    signed = y * fixed
    system = np.zeros((n + 1, n + 1))
    system[:n, :n], system[:n, n], system[n, :n] = k[np.ix_(free, free)], 1, 1
    right = np.r_[y[free] - k[free] @ signed, -signed.sum()]
    solved = np.linalg.lstsq(system, right, rcond=None)[0]
    polished = signed.astype(float)
    polished[free] = solved[:n]
    b = solved[n] if n else bias
    margins = y * (k @ polished + b)
    assert (polished * y >= -1e-9 * costs).all() and (polished * y <= (1 + 1e-9) * costs).all()
    assert (np.abs(margins[free] - 1) < 1e-8).all()
    assert (margins[fixed > 0] < 1 + 1e-8).all() and (margins[~free & (fixed == 0)] > 1 - 1e-8).all()
    return polished, b


linear, rbf = {"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.5}
wide, poly = {"kernel": "rbf", "gamma": 0.03125}, {"kernel": "poly", "gamma": 0.5, "coef0": 1.0, "degree": 3}
sets = [
    ("linear, low cost", gauss(80, 3, 0.5), linear, 0.01, 1, True),
    ("linear", gauss(120, 5, 0.4), linear, 1, 1, True),
    ("linear, class weights", gauss(100, 4, 0.5), linear, 0.5, 4, True),
    ("linear, far columns", far(100), linear, 1, 1, True),
    ("linear, ties", tied(90), linear, 1, 1, False),
    ("rbf rings", rings(150), rbf, 1, 1, True),
    ("rbf rings, high cost", rings(100), rbf, 100, 1, True),
    ("rbf, class weights", gauss(200, 3, 0.4), rbf, 2, 0.25, True),
    ("rbf, far columns", far(120), wide, 10, 1, True),
    ("rbf, ties", tied(90), rbf, 1, 1, False),
    ("polynomial", rings(120), poly, 0.1, 1, True),
    ("polynomial, class weights", gauss(100, 2, 0.5), poly, 1, 3, True),
    ("polynomial, ties", tied(80), poly, 0.5, 1, False),
    ("separable", gauss(50, 6, 3), rbf, 1000, 1, True),
]
machines = []
for name, (x, y), kernel, cost, weight, unique in sets:
    x = x.astype(np.float32).astype(np.float64)
    k = values(kernel, x)
    svc = SVC(C=cost, class_weight={1: weight, -1: 1}, tol=1e-10, shrinking=False, max_iter=1_000_000, **kernel)
    svc.fit(x, y)
    costs = np.where(y > 0, cost * weight, cost)
    signed = np.zeros(len(y))
    signed[svc.support_] = svc.dual_coef_[0]
    assert np.array_equal(svc.classes_, [-1, 1]) and (signed * y >= 0).all()
    signed, bias = polished(k, y, np.abs(signed), costs, svc.intercept_[0])
    decisions = k @ signed + bias
    off = np.abs(decisions - svc.decision_function(x)).max()
    assert off < 1e-4, off
    objective = np.abs(signed).sum() - signed @ k @ signed / 2
    machines.append({
        "name": name, "kernel": kernel, "unique": unique, "cost": cost, "weight": weight, "objective": objective,
        "bias": bias, "y": y.tolist(), "x": [[float("%.9g" % v) for v in row] for row in x],
        "decisions": decisions.tolist(), "alpha": [float("%.6g" % v) for v in np.abs(signed) / costs],
    })
with open("machines.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(m, separators=(",", ":")) for m in machines) + "\n]\n")
