"""Fits LIBLINEAR to a data set in memory: python fit.py dense|sparse ITERATIONS, on one core

Prints the primal objective and the time that the process had the processor during the fit.
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
    w = machine.coef_.ravel()
    primal = w @ w / 2 + np.maximum(0, 1 - y * (x @ w)).sum()
    print(json.dumps({"seconds": seconds, "primal": primal}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
