"""Fits LIBLINEAR to a data set in memory: python fit.py dense|sparse ITERATIONS, on one core

Prints the primal objective and the time that the process had the processor during the fit. Given the model file of
LIBLINEAR's own program in place of ITERATIONS, prints the primal objective of its weights.
"""

import json
import sys
import time
import warnings

import numpy as np
import scipy.sparse
import sets
from sklearn.svm import LinearSVC


def matrix(name):
    if name == "dense":
        x, y = sets.dense()
        return x.astype(np.float64), y
    index, values, y = sets.sparse()
    rows, filled = index.shape
    indptr = np.arange(rows + 1) * filled
    return scipy.sparse.csr_matrix((values.astype(np.float64).ravel(), index.ravel(), indptr), shape=sets.SPARSE), y


def main(name, iterations):
    warnings.filterwarnings("ignore")  # that it has not converged
    x, y = matrix(name)
    machine = LinearSVC(C=1, loss="hinge", dual=True, fit_intercept=False, tol=1e-12, max_iter=iterations, random_state=0)
    began = time.process_time()
    machine.fit(x, y)
    seconds = time.process_time() - began
    print(json.dumps({"seconds": seconds, "primal": primal(x, y, machine.coef_.ravel())}))


def primal(x, y, w):
    return w @ w / 2 + np.maximum(0, 1 - y * (x @ w)).sum()


def of_model(name, path):
    with open(path, encoding="ascii") as lines:
        head = dict(line.split(maxsplit=1) for line in iter(lines.readline, "w\n"))
        w = np.array(lines.read().split(), dtype=np.float64)
    x, y = matrix(name)
    w = np.pad(w, (0, x.shape[1] - w.size))  # columns after the last one in the file
    print(json.dumps({"primal": primal(x, y, w if head["label"].startswith("1") else -w)}))


if __name__ == "__main__":
    if sys.argv[2].isdigit():
        main(sys.argv[1], int(sys.argv[2]))
    else:
        of_model(sys.argv[1], sys.argv[2])
