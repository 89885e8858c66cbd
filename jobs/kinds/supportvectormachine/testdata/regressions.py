"""Makes regressions.json: small training sets and the regressions that scikit-learn 1.9.1 trains on them, by SVR at a tolerance
of 1e-10, solved on in float64 for the coefficients between the bounds (LIBSVM keeps kernel values in float32).

Run it in this folder: python3 regressions.py.
"""
import json
import warnings

import numpy as np
from sklearn.svm import SVR

warnings.simplefilter("error")
random = np.random.default_rng(8)


def line(n, width):
    x = random.normal(size=(n, width))
    return x, x @ random.normal(size=width) + 0.3 * random.normal(size=n) + 2


def wave(n):
    x = 6 * random.random((n, 1))
    return x, np.sin(x[:, 0]) + 0.15 * random.normal(size=n)


def far(n):
    x, z = line(n, 4)
    x = np.exp(1.5 * x) * [1e6, 1e-4, 1, 1e3] + [1e7, 0, -5, 1e5]
    return (x - x.mean(axis=0)) / x.std(axis=0), 50 * z


def tied(n):
    x, z = line(n, 2)
    return np.round(2 * x) / 2, np.round(2 * z) / 2


def values(kernel, x):
    products = x @ x.T
    if kernel["kernel"] == "linear":
        return products
    if kernel["kernel"] == "poly":
        return (kernel["gamma"] * products + kernel["coef0"]) ** kernel["degree"]
    return np.exp(-kernel["gamma"] * ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2))


def polished(k, z, beta, cost, epsilon):
    """Solves for the coefficients between the bounds; those that leave them stay at the bound that they met."""
    size, sign = np.abs(beta), np.sign(beta)
    free = (size > 1e-6 * cost) & (size < (1 - 1e-6) * cost)
    fixed = np.where(size >= (1 - 1e-6) * cost, cost * sign, 0)
    while True:
        n = free.sum()
        system = np.zeros((n + 1, n + 1))
        system[:n, :n], system[:n, n], system[n, :n] = k[np.ix_(free, free)], 1, 1
        right = np.r_[z[free] - epsilon * sign[free] - k[free] @ fixed, -fixed.sum()]
        solved = np.linalg.lstsq(system, right, rcond=None)[0]
        result = fixed.astype(float)
        result[free], b = solved[:n], solved[n]
        above, below = free & (np.abs(result) > cost), free & (result * sign < 0)
        if not above.any() and not below.any():
            break
        fixed = np.where(above, cost * sign, fixed)
        free &= ~above & ~below
    off = z - k @ result - b
    assert n and (np.abs(off[~free & (fixed == 0)]) < epsilon + 1e-8).all()
    assert (off[fixed != 0] * sign[fixed != 0] > epsilon - 1e-8).all()
    return result, b


linear, rbf = {"kernel": "linear"}, {"kernel": "rbf", "gamma": 1.0}
sets = [
    ("line", line(80, 3), linear, 1, 0.1, True),
    ("line, no tube", line(60, 2), linear, 0.5, 0, True),
    ("far columns", far(90), linear, 1, 1, True),
    ("ties", tied(70), linear, 1, 0.25, False),
    ("wave", wave(100), rbf, 1, 0.1, True),
    ("wave, high cost", wave(80), rbf, 10, 0.05, True),
    ("cubic", wave(70), {"kernel": "poly", "gamma": 0.25, "coef0": 1.0, "degree": 3}, 1, 0.1, True),
    ("a wide tube", line(40, 2), linear, 1, 1000, False),
]
regressions = []
for name, (x, z), kernel, cost, epsilon, unique in sets:
    x = x.astype(np.float32).astype(np.float64)
    z = np.array([float("%.9g" % v) for v in z])
    k = values(kernel, x)
    svr = SVR(C=cost, epsilon=epsilon, tol=1e-10, shrinking=False, max_iter=3_000_000, **kernel).fit(x, z)
    beta = np.zeros(len(z))
    beta[svr.support_] = svr.dual_coef_[0]
    if beta.any():
        beta, bias = polished(k, z, beta, cost, epsilon)
    else:
        bias = svr.intercept_[0]
    regressions.append({
        "name": name, "kernel": kernel, "unique": unique, "cost": cost, "epsilon": epsilon,
        "objective": z @ beta - epsilon * np.abs(beta).sum() - beta @ k @ beta / 2, "z": z.tolist(),
        "x": [[float("%.9g" % v) for v in row] for row in x], "beta": [float("%.9g" % v) for v in beta],
        "decisions": [float("%.12g" % v) for v in k @ beta + bias],
    })
with open("regressions.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(n, separators=(",", ":")) for n in regressions) + "\n]\n")
