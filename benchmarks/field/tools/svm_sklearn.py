import glob
import sys
import numpy as np
import scipy.sparse
from sklearn.datasets import load_svmlight_files
from sklearn.svm import LinearSVC

data, out, width = sys.argv[1], sys.argv[2], int(sys.argv[3])
loaded = load_svmlight_files(sorted(glob.glob(f"{data}/part-*.libsvm")), n_features=width, zero_based=False)
x, y = scipy.sparse.vstack(loaded[::2]), np.concatenate(loaded[1::2])
fit = LinearSVC(C=1, loss="hinge", fit_intercept=False, random_state=7).fit(x, y)
np.save(f"{out}/weights.npy", fit.coef_[0])
