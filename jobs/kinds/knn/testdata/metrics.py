"""Writes metrics.json: distances of rows by scikit-learn, for the metrics whose arithmetic is not laid down."""

import json
import os

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import haversine_distances

draw = np.random.default_rng(5)
numbers = draw.normal(size=(14, 11)).astype(np.float32)
numbers[3] = numbers[2]
numbers[4] += np.float32(1000)
sets = (draw.random((14, 70)) < 0.1).astype(np.float32)
sets[3], sets[5] = sets[2], 0
sets[6] = 0
places = np.stack([draw.uniform(-1.57, 1.57, 14), draw.uniform(-3.14, 3.14, 14)], 1).astype(np.float32)
places[3], places[4], places[5] = places[2], [1.5707963, 1], [0, -3.1]
cases = []
for p in (1, 1.5, 2, 3, 8, 17.25):
    cases.append({"metric": "minkowski", "p": p, "rows": numbers.tolist(),
                  "distances": pairwise_distances(numbers.astype(float), metric="minkowski", p=p).tolist()})
cases.append({"metric": "jaccard", "rows": sets.tolist(),
              "distances": pairwise_distances(sets.astype(bool), metric="jaccard").tolist()})
cases.append({"metric": "haversine", "rows": places.tolist(),
              "distances": haversine_distances(places.astype(float)).tolist()})
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "metrics.json"), "w", encoding="ascii") as out:
    json.dump(cases, out, separators=(",", ":"))
    out.write("\n")
