"""What each peer does for each workload, as its documentation tells a user to.

A workload is named "operation/AxBxC". Output arrays are given where the interface takes
them; converting inputs and building indices is not timed.
"""

import warnings

import numpy as np

import data

try:
    import faiss
except ImportError:
    faiss = None
try:
    import scipy
    import scipy.sparse
except ImportError:
    scipy = None
try:
    import sklearn
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import Perceptron
    from sklearn.metrics import pairwise
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

    warnings.simplefilter("ignore", ConvergenceWarning)  # the number of iterations is the point
except ImportError:
    sklearn = None
try:
    import threadpoolctl
except ImportError:
    threadpoolctl = None


class Call:
    """A contender whose run is one call; digest turns what it returned into a checksum."""

    def __init__(self, call, digest):
        self.call, self.digest, self.result = call, digest, None

    def once(self):
        self.result = self.call()

    def measure(self, timed, times):
        return timed(self.once, times)

    def checksum(self):
        return float(self.digest(self.result))


class Marginal:
    """A contender whose run is one more iteration: (T(1+more) - T(1)) / more.

    What the peer does once, before and after it iterates, is not counted against it.
    """

    more = 4

    def __init__(self, fit, digest):
        self.fit, self.digest, self.result = fit, digest, None

    def first(self):
        self.result = self.fit(1)

    def last(self):
        self.final = self.fit(1 + self.more)

    def measure(self, timed, times):
        short, long = timed(self.first, times), timed(self.last, times)
        return tuple((b - a) // self.more for a, b in zip(short, long))

    def checksum(self):
        return float(self.digest(self.result))


class LastOfMarginal(Marginal):
    """The same, with the checksum of what all iterations led to."""

    def checksum(self):
        return float(self.digest(self.final))


def total(array):
    return np.sum(array, dtype=np.float64)


def squares(array):
    return np.sum(np.square(array, dtype=np.float64))


def xyt(seed, m, n, d):
    x, y = data.normals(seed, 0, m, d), data.normals(seed, 1, n, d)
    out = np.empty((m, n), dtype=np.float32)
    yield "openblas", Call(lambda: np.dot(x, y.T, out=out), squares)


def sqdist(seed, m, n, d):
    x, y = data.normals(seed, 0, m, d), data.normals(seed, 1, n, d)
    if faiss:
        yield "faiss", Call(lambda: faiss.pairwise_distances(x, y), total)
    if sklearn:
        yield "sklearn", Call(lambda: pairwise.euclidean_distances(x, y, squared=True), total)


def rbf(seed, m, n, d):
    x, y = data.normals(seed, 0, m, d), data.normals(seed, 1, n, d)
    if sklearn:
        yield "sklearn", Call(lambda: pairwise.rbf_kernel(x, y, gamma=1 / d), total)


def rbfsymmetric(seed, n, d):
    x = data.normals(seed, 0, n, d)
    if sklearn:
        yield "sklearn", Call(lambda: pairwise.rbf_kernel(x, gamma=1 / d), total)


def polynomial(seed, m, n, d):
    x, y = data.normals(seed, 0, m, d), data.normals(seed, 1, n, d)
    if sklearn:
        kernel = pairwise.polynomial_kernel
        yield "sklearn", Call(lambda: kernel(x, y, degree=3, gamma=1 / d, coef0=1), total)


def kmeansexact(seed, n, d, k):
    x = data.normals(seed, 0, n, d)
    start = x[:k].copy()

    def by_faiss(iterations):
        fit = faiss.Kmeans(d, k, niter=iterations, max_points_per_centroid=n, min_points_per_centroid=1)
        fit.train(x, init_centroids=start)
        return fit.centroids

    def by_sklearn(iterations):
        fit = KMeans(k, init=start, n_init=1, max_iter=iterations, tol=0, algorithm="lloyd", copy_x=False)
        return fit.fit(x).cluster_centers_

    if faiss:
        yield "faiss", Marginal(by_faiss, squares)
    if sklearn:
        yield "sklearn", Marginal(by_sklearn, squares)


def knn(seed, n, d, queries, k):
    base, q = data.normals(seed, 0, n, d), data.normals(seed, 1, queries, d)
    if faiss:
        index = faiss.IndexFlatL2(d)
        index.add(base)
        yield "faiss", Call(lambda: index.search(q, k), lambda found: total(found[0]))
    if sklearn:
        fit = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(base)
        yield "sklearn", Call(lambda: fit.kneighbors(q), lambda found: squares(found[0]))


def knnsingle(seed, n, d, queries, k):
    """One query a call."""
    base, q = data.normals(seed, 0, n, d), data.normals(seed, 1, queries, d)
    if faiss:
        index = faiss.IndexFlatL2(d)
        index.add(base)
        search = lambda: [index.search(q[i : i + 1], k)[0] for i in range(queries)]
        yield "faiss", Call(search, total)


def dotrows(seed, n, d):
    """The product of each row with one vector."""
    x, w = data.normals(seed, 0, n, d), data.normals(seed, 1, d)
    out = np.empty(n, dtype=np.float32)
    yield "openblas", Call(lambda: np.dot(x, w, out=out), squares)


def axpyrows(seed, n, d):
    """The sum of all rows, each times its own number."""
    x, a = data.normals(seed, 0, n, d), data.normals(seed, 1, n)
    out = np.empty(d, dtype=np.float32)
    yield "openblas", Call(lambda: np.dot(a, x, out=out), squares)


def l1rows(seed, n, d):
    """The L1 distance of each row and one vector."""
    x, y = data.normals(seed, 0, n, d), data.normals(seed, 1, 1, d)
    if sklearn:
        yield "sklearn", Call(lambda: pairwise.manhattan_distances(x, y), total)


def sparsedot(seed, rows, filled, width):
    """The product of each sparse row with one dense vector."""
    at = data.columns(seed, 0, rows, filled, width)
    values, w = data.normals(seed, 1, rows * filled), data.normals(seed, 2, width)
    if scipy:
        starts = np.arange(rows + 1, dtype=np.int32) * filled
        x = scipy.sparse.csr_array((values, at.ravel(), starts), shape=(rows, width))
        yield "scipy", Call(lambda: x @ w, squares)


def sparserows(seed, rows, filled, width, values):
    """CSR with as many entries in each row."""
    at = data.columns(seed, 0, rows, filled, width)
    return scipy.sparse.csr_array((values, at.ravel(), np.arange(rows + 1, dtype=np.int32) * filled), shape=(rows, width))


def bayescounts(seed, rows, filled, width, classes):
    """Counts of each column in each class."""
    if not sklearn:
        return
    x = sparserows(seed, rows, filled, width, data.counts(seed, 1, rows * filled))
    y = (data.words(seed, 2, 0, rows) % np.uint64(classes)).astype(np.int64)
    fit = MultinomialNB()

    def digest(fit):
        at = np.arange(1, fit.feature_count_.size + 1, dtype=np.float64) % 1009  # a sum that knows its places
        return np.sum(fit.feature_count_.ravel() * at)

    yield "sklearn", Call(lambda: fit.fit(x, y), digest)


def learned(x, truth):
    """Epochs in the order of the rows, without an intercept; the class is the sign of a product."""
    y = x @ truth > 0

    def fit(epochs):
        return Perceptron(max_iter=epochs, tol=None, shuffle=False, fit_intercept=False).fit(x, y).coef_

    return LastOfMarginal(fit, squares)


def learnedshuffled(x, truth):
    """Epochs as by default, each in an order of its own; the share of rows put right at the end."""
    y = x @ truth > 0

    def fit(epochs):
        return Perceptron(max_iter=epochs, tol=None, fit_intercept=False, random_state=0).fit(x, y).coef_

    return LastOfMarginal(fit, lambda coef: np.mean((x @ coef[0].astype(np.float32) > 0) == y))


def sparsetask(seed, rows, filled, width):
    return sparserows(seed, rows, filled, width, data.small(seed, 1, rows * filled)), data.small(seed, 2, width)


def densetask(seed, rows, width):
    return data.small(seed, 0, rows, width), data.small(seed, 1, width)


def perceptronsparse(seed, rows, filled, width):
    if sklearn:
        yield "sklearn", learned(*sparsetask(seed, rows, filled, width))


def perceptrondense(seed, rows, width):
    if sklearn:
        yield "sklearn", learned(*densetask(seed, rows, width))


def perceptronsparseshuffled(seed, rows, filled, width):
    if sklearn:
        yield "sklearn", learnedshuffled(*sparsetask(seed, rows, filled, width))


def perceptrondenseshuffled(seed, rows, width):
    if sklearn:
        yield "sklearn", learnedshuffled(*densetask(seed, rows, width))


def kmeansfit(seed, n, d, k, iterations):
    """A whole fit from the first rows, rounded to quarters."""
    x = data.normals(seed, 0, n, d)
    start = np.round(x[:k] * 4) / 4
    if sklearn:
        fit = KMeans(k, init=start, n_init=1, max_iter=iterations, tol=0, algorithm="lloyd")
        yield "sklearn", Call(lambda: fit.fit(x), lambda fit: fit.inertia_)


def knnpictures(seed, k):
    """Errors of the test pictures of MNIST by a vote of the nearest training pictures."""
    x, y = data.pictures("train")
    q, truth = data.pictures("t10k")
    if sklearn:
        fit = KNeighborsClassifier(k, algorithm="brute")
        yield "sklearn", Call(lambda: fit.fit(x, y).predict(q), lambda found: np.sum(found != truth))


OPERATIONS = {f.__name__: f for f in (
    xyt, sqdist, rbf, rbfsymmetric, polynomial, kmeansexact, knn, knnsingle, dotrows, axpyrows, l1rows, sparsedot,
    bayescounts, perceptronsparse, perceptrondense, perceptronsparseshuffled, perceptrondenseshuffled, kmeansfit,
    knnpictures,
)}


def contenders(workload, seed):
    """The contenders of "operation/AxBxC" by name; none if no peer offers it."""
    operation, _, sizes = workload.partition("/")
    if operation not in OPERATIONS:
        return {}
    return dict(OPERATIONS[operation](seed, *map(int, sizes.split("x"))))


def versions():
    """What answers here, and which instructions it chose."""
    found = {"numpy": np.__version__}
    for module in (scipy, sklearn, faiss):
        if module:
            found[module.__name__] = module.__version__
    if faiss and hasattr(faiss, "SIMDConfig"):
        found["faiss instructions"] = faiss.SIMDConfig.get_level_name()
    elif faiss:
        found["faiss instructions"] = faiss.get_compile_options().strip()
    if threadpoolctl:
        for pool in threadpoolctl.threadpool_info():
            if pool.get("internal_api") == "openblas":
                owner = "numpy" if "numpy" in pool["filepath"] else "scipy" if "scipy" in pool["filepath"] else "faiss"
                found[f"OpenBLAS of {owner}"] = f"{pool['version']} {pool['architecture']}"
    return found
