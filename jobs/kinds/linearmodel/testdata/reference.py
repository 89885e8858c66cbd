"""Makes reference.json: the best weights of linear machines, solved in float64 until the conditions of optimality hold to 1e-9.

Sets of testdata, with each column divided by the power of two that is just above its greatest value, and a column of ones; a
machine for each class against the others (of two classes, the second). Run it in this folder, with numpy alone.
"""
import csv
import json

import numpy as np


def load(name):
    rows = list(csv.reader(open("../../../../testdata/" + name)))[1:]
    x = np.array([row[:-1] for row in rows], dtype=np.float32).astype(np.float64)
    x /= 2.0 ** np.frexp(np.abs(x).max(axis=0))[1]
    return np.column_stack([x, np.ones(len(rows))]), np.array([row[-1] for row in rows])


def newton(rows, c, squared):
    """Squared hinge, or with squared the squares of all: Newton's method over the rows within the margin."""
    w = np.zeros(rows.shape[1])
    for _ in range(1000):
        within = np.full(len(rows), True) if squared else rows @ w < 1
        a = rows[within]
        best = np.linalg.solve(np.eye(len(w)) + 2 * c * a.T @ a, 2 * c * a.sum(axis=0))
        if np.abs(best - w).max() < 1e-13:
            break
        t = min((1, 0.5, 0.25, 0.125, 0.0625), key=lambda t: primal(rows, w + t * (best - w), c, squared))
        w = w + t * (best - w)
    slack = 1 - rows @ w
    gradient = w - 2 * c * rows.T @ (slack if squared else np.maximum(0, slack))
    assert np.abs(gradient).max() < 1e-9, gradient
    return w


def primal(rows, w, c, squared):
    slack = 1 - rows @ w
    return w @ w / 2 + c * ((slack if squared else np.maximum(0, slack)) ** 2).sum()


def hinge(rows, c):
    """Coordinate descent on the dual, then the linear equations of the rows that it leaves on the margin."""
    a, w, squares = np.zeros(len(rows)), np.zeros(rows.shape[1]), (rows**2).sum(axis=1)
    for sweep in range(20_000):
        moved = 0.0
        for i, x in enumerate(rows):
            new = min(c, max(0.0, a[i] + (1 - x @ w) / squares[i]))
            if new != a[i]:
                w += (new - a[i]) * x
                moved = max(moved, abs(new - a[i]))
                a[i] = new
        if moved < 1e-12 * c:
            break
    free = (a > 1e-7 * c) & (a < (1 - 1e-7) * c)
    fixed = c * rows[a >= (1 - 1e-7) * c].sum(axis=0)
    on = rows[free]
    coefficients = np.linalg.lstsq(on @ on.T, 1 - on @ fixed, rcond=None)[0]
    w = fixed + coefficients @ on
    margins = rows @ w
    assert (coefficients > -1e-9).all() and (coefficients < c + 1e-9).all()
    assert np.abs(margins[free] - 1).max(initial=0) < 1e-9 and (margins[a <= 1e-7 * c] > 1 - 1e-9).all()
    assert (margins[a >= (1 - 1e-7) * c] < 1 + 1e-9).all()
    return w


found = []
for name in ("iris.csv", "wine_data.csv", "breast_cancer.csv"):
    x, labels = load(name)
    classes = sorted(set(labels))
    for loss in ("hinge", "squared_hinge", "squared"):
        for c in (0.01, 0.5):
            machines = []
            for label in classes if len(classes) > 2 else classes[1:]:
                rows = np.where(labels == label, 1.0, -1.0)[:, None] * x
                machines.append(list(hinge(rows, c) if loss == "hinge" else newton(rows, c, loss == "squared")))
            found.append({"set": name, "loss": loss, "C": c, "weights": machines})
with open("reference.json", "w") as file:
    json.dump(found, file)
    file.write("\n")
