"""Makes precomputed.json: small matrices of kernel values, rounded to float32, and the machines that scikit-learn 1.9.1 trains
on them with kernel="precomputed" at a tolerance of 1e-10. Matrices with negative eigenvalues are clipped by numpy before.

Run it in this folder: python3 precomputed.py.
"""
import json
import warnings

import numpy as np
from sklearn.svm import SVC, SVR

warnings.simplefilter("error")
random = np.random.default_rng(13)
N, TEST = 24, 5


def rbf(x, y):
    return np.exp(-0.5 * ((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2))


def linear(x, y):
    return x @ y.T


def polynomial(x, y):
    return (0.5 * x @ y.T + 1) ** 3


def sigmoid(x, y):
    return np.tanh(2 * x @ y.T - 1)


def noise(x, y):
    """Of no vectors at all: symmetric by the products of a fixed matrix with records as numbers."""
    value = np.sin(1e4 * (x[:, :1] + y[:, :1].T)) + np.cos(3e3 * x[:, :1] * y[:, :1].T)
    return value


def points(width, copies=False):
    x = random.normal(size=(N + TEST, width))
    if copies:
        x[N // 2:N] = x[:N // 2]
    return x


def make(name, kernel, x, cost, scale=1.0, clip=False, classes=2, mode="classify"):
    k = (scale * kernel(x, x[:N])).astype(np.float32).astype(np.float64)
    k[:N] = np.tril(k[:N]) + np.tril(k[:N], -1).T
    trained, test = k[:N], k[N:]
    if clip:
        values, vectors = np.linalg.eigh(trained)
        above = vectors[:, values > 0]
        assert values[0] < -0.01
        test = test @ above @ above.T
        trained = (above * values[values > 0]) @ above.T
    signal = x[:N, 0] + 0.4 * random.normal(size=N)
    case = {"Name": name, "Mode": mode, "Clip": clip, "Cost": cost, "K": [[float("%.9g" % v) for v in row] for row in k]}
    if mode == "regress":
        z = np.round(signal, 3)
        m = SVR(kernel="precomputed", C=cost, epsilon=0.1, tol=1e-10, cache_size=10).fit(trained, z)
        beta = np.zeros(N)
        beta[m.support_] = m.dual_coef_[0]
        case["Z"] = z.tolist()
        case["Objective"] = float(z @ beta - 0.1 * np.abs(beta).sum() - beta @ trained @ beta / 2)
        decisions = m.predict(np.r_[trained, test])
    else:
        y = np.digitize(signal, np.quantile(signal, np.arange(1, classes) / classes))
        m = SVC(kernel="precomputed", C=cost, tol=1e-10, cache_size=10, decision_function_shape="ovr").fit(trained, y)
        case["Y"] = y.tolist()
        if classes == 2:
            beta = np.zeros(N)
            beta[m.support_] = m.dual_coef_[0]
            case["Objective"] = float(np.abs(beta).sum() - beta @ trained @ beta / 2)
            decisions = m.decision_function(np.r_[trained, test])
        else:
            decisions = m.decision_function(np.r_[trained, test]).argmax(axis=1)
    case["Decisions"] = decisions.tolist()
    return case


cases = [
    make("rbf", rbf, points(3), 1),
    make("rbf, high cost", rbf, points(3), 1000),
    make("rbf, copies", rbf, points(3, copies=True), 1),
    make("linear, of rank 2", linear, points(2), 1),
    make("linear, of rank 1", linear, points(1), 0.5),
    make("polynomial", polynomial, points(3), 1),
    make("large values", rbf, points(3), 1e-6, scale=1e6),
    make("small values", rbf, points(3), 1e6, scale=1e-6),
    make("three classes", rbf, points(3), 1, classes=3),
    make("regression, rbf", rbf, points(3), 1, mode="regress"),
    make("regression, linear", linear, points(2), 1, mode="regress"),
    make("clipped sigmoid", sigmoid, points(3), 1, clip=True),
    make("clipped noise", noise, points(1), 1, clip=True),
    make("clipped, three classes", noise, points(1), 1, clip=True, classes=3),
    make("clipped regression", sigmoid, points(3), 1, clip=True, mode="regress"),
]
with open("precomputed.json", "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
