"""Lets whole jobs of kind NearestNeighbors and scikit-learn run in turn: python race.py GRAM DATA ROUNDS [SET/METRIC...]

GRAM is the binary, DATA the directory that sets.py wrote. All races run, or those that are named (texts/cosine). Each
contender runs with one thread, and counts the time that it had the processor: of Gram the whole process, which reads
text, of scikit-learn kneighbors alone, of what is in memory (after a first call on a few rows). Prints the rows of a
table of medians.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

RACES = [("texts", "cosine", 60_000), ("texts", "l2", 60_000), ("wide", "cosine", 20_000), ("wide", "l2", 20_000),
         ("wide", "l1", 20_000)]
K = 10

SKLEARN = """
import os, sys
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
room, name, metric = sys.argv[1:4]
base, queries = sparse.load_npz(f"{room}/{name}-base.npz"), sparse.load_npz(f"{room}/{name}-queries.npz")
search = NearestNeighbors(n_neighbors=int(sys.argv[4]), metric=metric, algorithm="brute").fit(base)
search.kneighbors(queries[:5])
before = os.times()
distances, _ = search.kneighbors(queries)
after = os.times()
print(after.user + after.system - before.user - before.system, distances.astype(float).mean())
"""


def environment():
    return {**os.environ, "GOMAXPROCS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def gram(binary, directory, name, metric, width):
    room = os.path.abspath(directory)
    source = {"format": "libsvm", "width": width, "index_base": 1}
    spec = {"apiVersion": "v1", "kind": "NearestNeighbors", "metadata": {"name": name},
            "spec": {"input": {"uri": f"{room}/{name}-base.libsvm", **source},
                     "queries": {"uri": f"{room}/{name}-queries.libsvm", **source},
                     "params": {"metric": metric, "k": K}, "repro": {"seed": 7}}}
    with tempfile.TemporaryDirectory() as out:
        path = pathlib.Path(out) / "spec.json"
        path.write_text(json.dumps(spec), encoding="utf-8")
        before = os.times()
        subprocess.run([binary, "run", "-q", "-f", str(path), "--out", out], check=True, capture_output=True,
                       env=environment())
        after = os.times()
        total = count = 0
        for part in pathlib.Path(out).glob("**/neighbors/part-*.csv"):
            for line in part.read_text(encoding="utf-8").splitlines()[1:]:
                total, count = total + float(line.split(",")[3]), count + 1
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, total / max(1, count)


def peer(directory, name, metric, _):
    text = subprocess.run([sys.executable, "-B", "-c", SKLEARN, directory, name, metric, str(K)], check=True,
                          capture_output=True, env=environment()).stdout
    return tuple(float(v) for v in text.split())


def main(binary, directory, rounds, named):
    found = {}
    for _ in range(rounds):
        for name, metric, width in RACES:
            if named and f"{name}/{metric}" not in named:
                continue
            for contender in ("Gram", "scikit-learn"):
                run = gram(binary, directory, name, metric, width) if contender == "Gram" else peer(
                    directory, name, metric, width)
                found.setdefault((name, metric, contender), []).append(run)
                print(name, metric, contender, *run, file=sys.stderr, flush=True)
    print("| data | metric | contender | s of one core, median (least to most) | mean distance |")
    print("|---|---|---|---|---|")
    for (name, metric, contender), runs in found.items():
        seconds = [r[0] for r in runs]
        print(f"| {name} | {metric} | {contender} | {statistics.median(seconds):.2f} ({min(seconds):.2f} to "
              f"{max(seconds):.2f}) | {runs[0][1]:.7g} |")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:])
