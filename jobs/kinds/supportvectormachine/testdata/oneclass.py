"""Makes oneclass.json: small training sets and the one-class machines that scikit-learn 1.9.1 trains on them, by OneClassSVM at
a tolerance of 1e-10, solved on in float64 for the coefficients between the bounds (LIBSVM keeps kernel values in float32).

Run it in this folder: python3 oneclass.py. Objectives are those of the primal at the optimum, which are below 0.
"""
import json
import warnings

import numpy as np
from sklearn.svm import OneClassSVM

warnings.simplefilter("error")
random = np.random.default_rng(31)


def cloud(n, width):
    return random.normal(size=(n, width)) * np.arange(1, width + 1) + 1


def two(n):
    return np.r_[random.normal(size=(n // 2, 2)) - 4, 0.5 * random.normal(size=(n - n // 2, 2)) + 4]


def far(n):
    x = np.exp(1.5 * cloud(n, 4)) * [1e6, 1e-4, 1, 1e3] + [1e7, 0, -5, 1e5]
    return (x - x.mean(axis=0)) / x.std(axis=0)


def values(kernel, x):
    products = x @ x.T
    if kernel["kernel"] == "linear":
        return products
    if kernel["kernel"] == "poly":
        return (kernel["gamma"] * products + kernel["coef0"]) ** kernel["degree"]
    return np.exp(-kernel["gamma"] * ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2))


def descended(k, alpha, costs):
    """Goes on in float64 from LIBSVM's coefficients, a pair at a time, until the greatest violation is 1e-13 of the values."""
    alpha, f = alpha.copy(), k @ alpha
    for _ in range(2_000_000):
        up, low = np.where(alpha < costs, -f, -np.inf), np.where(alpha > 0, -f, np.inf)
        i = up.argmax()
        gap = np.where(alpha > 0, up[i] - low, 0)
        curvature = np.maximum(k[i, i] + k.diagonal() - 2 * k[i], 1e-12)
        j = np.where(gap > 0, gap * gap / curvature, -1).argmax()
        if up[i] - low.min() <= 1e-13 * np.abs(f).max():
            break
        step = min(gap[j] / curvature[j], costs[i] - alpha[i], alpha[j])
        alpha[i] = costs[i] if step == costs[i] - alpha[i] else alpha[i] + step
        alpha[j] = 0 if step == alpha[j] else alpha[j] - step
        f += step * (k[i] - k[j])
    return alpha


def polished(k, alpha, costs, total):
    """Solves for the coefficients between the bounds, where the others stay as they are."""
    free, fixed = (alpha > 0) & (alpha < costs), np.where(alpha >= costs, costs, 0)
    n = free.sum()
    if n > np.linalg.matrix_rank(k[np.ix_(free, free)]):  # equal records: many are optimal, and this is one of them
        return alpha, (k @ alpha)[free].mean()
    system = np.zeros((n + 1, n + 1))
    system[:n, :n], system[:n, n], system[n, :n] = k[np.ix_(free, free)], -1, 1
    solved = np.linalg.lstsq(system, np.r_[-k[free] @ fixed, total - fixed.sum()], rcond=None)[0]
    result = fixed.astype(float)
    result[free], rho = solved[:n], solved[n]
    off, least = k @ result - rho, 1e-10 * np.abs(k @ result).max()
    assert n and (result >= 0).all() and (result <= costs).all() and np.abs(off[free]).max() < least
    assert (off[~free & (fixed == 0) & (costs > 0)] > -least).all() and (off[fixed > 0] < least).all()
    return result, rho


linear, rbf = {"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.5}
wide, poly = {"kernel": "rbf", "gamma": 0.03125}, {"kernel": "poly", "gamma": 0.5, "coef0": 1.0, "degree": 2}
weights = np.float32(0.25) * (1 + np.arange(120) % 7)
weights[::10] = 0
ties = np.round(cloud(90, 2))
sets = [  # the alphas are unique where no record is there twice and the kernel of the support vectors has full rank
    ("linear", cloud(80, 3) + 6, None, linear, 0.3, False),
    ("rbf", cloud(120, 3), None, rbf, 0.1, True),
    ("rbf, half", cloud(100, 2), None, rbf, 0.5, True),
    ("rbf, few outliers", two(150), None, rbf, 0.02, True),
    ("rbf, weights", cloud(120, 2), weights, rbf, 0.2, True),
    ("rbf, far columns", far(120), None, wide, 0.2, True),
    ("rbf, ties", ties, None, rbf, 0.3, False),
    ("polynomial", cloud(70, 2), None, poly, 0.25, False),
]
machines = []
for name, x, weight, kernel, nu, unique in sets:
    x = x.astype(np.float32).astype(np.float64)
    k = values(kernel, x)
    costs = np.ones(len(x)) if weight is None else weight.astype(float)
    svm = OneClassSVM(nu=nu, tol=1e-10, shrinking=False, max_iter=10_000_000, **kernel)
    counts = costs > 0  # scikit-learn numbers the support vectors among these
    svm.fit(x[counts], sample_weight=costs[counts])
    alpha = np.zeros(len(x))
    alpha[np.flatnonzero(counts)[svm.support_]] = svm.dual_coef_[0]
    total = nu * costs.sum()
    assert abs(alpha.sum() - total) < 1e-6 * total, (alpha.sum(), total)
    alpha, rho = polished(k, descended(k, alpha, costs), costs, total)
    decisions = k @ alpha - rho
    off = np.abs(decisions - svm.decision_function(x)).max()
    assert off < 1e-5 * np.abs(k @ alpha).max(), off
    machines.append({
        "name": name, "kernel": kernel, "unique": unique, "nu": nu, "objective": -alpha @ k @ alpha / 2, "rho": rho,
        "weights": None if weight is None else weight.tolist(), "decisions": [float("%.12g" % v) for v in decisions],
        "x": [[float("%.9g" % v) for v in row] for row in x], "alpha": [float("%.9g" % v) for v in alpha],
    })
with open("oneclass.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(m, separators=(",", ":")) for m in machines) + "\n]\n")
