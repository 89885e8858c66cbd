"""Makes accuracy.json: what scikit-learn 1.9.1's SVC with an rbf kernel tells right on sets of testdata, of records that it
was not trained on. Record i is one of fold i mod 5; columns are scaled by mean and deviation of the other folds.

Run it in this folder: python3 accuracy.py.
"""
import csv
import gzip
import json

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

DATA = "../../../../testdata/"
FOLDS = 5


def rows(name):
    with (gzip.open if name.endswith(".gz") else open)(DATA + name, "rt") as file:
        return list(csv.reader(file))


def cities():
    """Places of four countries that border on each other: every fourth."""
    list = [row for row in rows("geonames-cities.csv.gz")[1:] if row[3] in ("AT", "CH", "CZ", "SI")]
    return [row[:2] + row[3:] for row in list[::4]]


SETS = {
    "iris.csv": (rows("iris.csv")[1:], FOLDS),
    "wine_data.csv": (rows("wine_data.csv")[1:], FOLDS),
    "breast_cancer.csv": (rows("breast_cancer.csv")[1:], FOLDS),
    "digits.csv.gz": (rows("digits.csv.gz"), 1),
    "geonames-cities.csv.gz": (cities(), 2),
}

found = []
for name, (records, folds) in SETS.items():
    x = np.array([row[:-1] for row in records], dtype=np.float32).astype(np.float64)
    y = np.array([row[-1] for row in records])
    fold = np.arange(len(y)) % FOLDS
    for C, gamma in ((1, 1 / x.shape[1]), (10, 0.25 / x.shape[1])):
        right = 0
        for f in range(folds):
            scaler = StandardScaler().fit(x[fold != f])
            machine = SVC(C=C, gamma=gamma).fit(scaler.transform(x[fold != f]), y[fold != f])
            right += int((machine.predict(scaler.transform(x[fold == f])) == y[fold == f]).sum())
        found.append({"set": name, "records": len(y), "folds": folds, "C": C, "gamma": gamma,
                      "tested": int((fold < folds).sum()), "right": right})
with open("accuracy.json", "w") as file:
    json.dump(found, file, indent=1)
    file.write("\n")
