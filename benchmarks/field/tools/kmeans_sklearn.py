import glob
import sys
import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

data, out, k = sys.argv[1], sys.argv[2], int(sys.argv[3])
files = sorted(glob.glob(f"{data}/part-*.csv"))
x = pd.concat([pd.read_csv(f, index_col="id", dtype=np.float32) for f in files]).to_numpy()
fit = KMeans(k, init="random", n_init=1, max_iter=10, tol=0, random_state=7).fit(x)
np.save(f"{out}/centers.npy", fit.cluster_centers_)
