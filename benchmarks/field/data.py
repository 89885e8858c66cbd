"""Makes the files of the jobs: python data.py SIZE FOLDER

Every tool reads the same files: FOLDER/JOB/PARTS/ has the same records in 1, 4 or 7 files, in the same order. What is
there is not made again. The numbers are those of benchmarks/peers/data.py.
"""

import gzip
import os
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers"))
import data  # noqa: E402

SEED = 15
PARTS = (1, 4, 7)
SIZES = {
    "small": {"kmeans": (20_000, 32), "bayes": 1, "svm": (10_000, 20_000, 50), "knn": (5_000, 1_000)},
    "large": {"kmeans": (500_000, 32), "bayes": 20, "svm": (200_000, 100_000, 110), "knn": (60_000, 10_000)},
}


def cut(n, parts):
    """The rows of each part: as many in each, but for one."""
    edges = [n * p // parts for p in range(parts + 1)]
    return list(zip(edges, edges[1:]))


def write_lines(folder, suffix, lines, head=""):
    for parts in PARTS:
        room = folder / str(parts)
        room.mkdir(parents=True, exist_ok=True)
        for p, (start, end) in enumerate(cut(len(lines), parts)):
            (room / f"part-{p}.{suffix}").write_text(head + "".join(lines[start:end]), encoding="utf-8")


def kmeans(folder, rows, width):
    """Normal numbers with four digits after the point. There are no clusters in them, so no first centers are lucky."""
    x = data.normals(SEED, 1, rows, width)
    form = ",".join(["%d"] + ["%.4f"] * width) + "\n"
    lines = [form % (i, *row) for i, row in enumerate(x.tolist())]
    write_lines(folder, "csv", lines, ",".join(["id"] + [f"x{j}" for j in range(width)]) + "\n")


def bayes(folder, times):
    """WordNet's glosses in a random order, as often as asked; a twentieth of the glosses is kept to judge by."""
    with gzip.open(HERE.parent.parent / "testdata/wordnet30-glosses.tsv.gz", "rt", encoding="utf-8") as file:
        fields = [line.rstrip("\n").split("\t") for line in file]
    lines = [f"{f[0]}\t{f[2]}\n" for f in fields]
    order = np.argsort(data.words(SEED, 2, 0, len(lines)), kind="stable")
    kept = len(lines) // 20
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test.tsv").write_text("".join(lines[i] for i in order[:kept]), encoding="utf-8")
    train = np.tile(order[kept:], times)
    train = train[np.argsort(data.words(SEED, 3, 0, train.size), kind="stable")]
    write_lines(folder, "tsv", [lines[i] for i in train])


def svm(folder, rows, width, filled):
    """Sparse rows of length about 1. A label is the side of a hidden plane, with noise as large as the scores."""
    index = data.columns(SEED, 4, rows, filled, width)
    values = np.round(data.normals(SEED, 5, rows, filled) / 12, 4)
    w = data.normals(SEED, 6, width).astype(np.float64)
    scores = (values * w[index]).sum(axis=1)
    y = np.where(scores / scores.std() + data.normals(SEED, 7, rows) > 0, 1, -1)
    lines = []
    for label, at, of in zip(y.tolist(), (index + 1).tolist(), values.tolist()):
        pairs = " ".join(f"{j}:{v:.4f}" for j, v in zip(at, of))
        lines.append(f"{label} {pairs}\n")
    write_lines(folder, "libsvm", lines)
    (folder / "width").write_text(f"{width}\n", encoding="utf-8")


def knn(folder, base, queries):
    """The first pictures of MNIST as bytes, and the first of its test pictures."""
    os.environ.setdefault("GRAM_BENCH_MNIST", str(HERE.parent.parent / "data/mnist"))
    x, y = data.pictures("train")
    q, truth = data.pictures("t10k")
    x, y = x[:base].astype(np.uint8), y[:base]
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "queries.npy", q[:queries].astype(np.uint8))
    np.save(folder / "truth.npy", truth[:queries])
    for parts in PARTS:
        room = folder / str(parts)
        room.mkdir(exist_ok=True)
        for p, (start, end) in enumerate(cut(base, parts)):
            np.save(room / f"x-{p}.npy", x[start:end])
            np.save(room / f"y-{p}.npy", y[start:end])


def main(size, root):
    for job, args in SIZES[size].items():
        folder = pathlib.Path(root) / job
        if (folder / "done").exists():
            continue
        globals()[job](folder, *(args if isinstance(args, tuple) else (args,)))
        (folder / "done").write_text("", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
