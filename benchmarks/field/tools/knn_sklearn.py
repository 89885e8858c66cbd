import glob
import sys
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

data, out = sys.argv[1], sys.argv[2]
x = np.concatenate([np.load(f) for f in sorted(glob.glob(f"{data}/x-*.npy"))]).astype(np.float32)
y = np.concatenate([np.load(f) for f in sorted(glob.glob(f"{data}/y-*.npy"))])
queries = np.load(f"{data}/../queries.npy").astype(np.float32)
fit = KNeighborsClassifier(3, algorithm="brute").fit(x, y)
found = fit.kneighbors(queries, return_distance=False)
np.save(f"{out}/neighbors.npy", found)
votes = np.apply_along_axis(np.bincount, 1, y[found], minlength=10)
np.save(f"{out}/predictions.npy", votes.argmax(axis=1))
