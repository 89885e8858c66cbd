import glob
import sys
import faiss
import numpy as np
import pandas as pd

data, out, k = sys.argv[1], sys.argv[2], int(sys.argv[3])
files = sorted(glob.glob(f"{data}/part-*.csv"))
x = pd.concat([pd.read_csv(f, index_col="id", dtype=np.float32) for f in files]).to_numpy()
x = np.ascontiguousarray(x)
fit = faiss.Kmeans(x.shape[1], k, niter=10, seed=7, max_points_per_centroid=len(x))  # all points, not a sample
fit.train(x)
np.save(f"{out}/centers.npy", fit.centroids)
