"""Measures hash tables on records in clusters and in none: python hashing.py GRAM DIRECTORY [RECORDS]

Writes two tables of RECORDS (100,000) rows of 128 numbers of float32 into DIRECTORY: `clusters`, 1,000 centers drawn
normally with deviation 1 in each column, and rows about them with deviation 0.25; and `isotropic`, rows drawn normally.
1,000 further rows of either are searched in it for their 10 nearest, with `index: lsh` at a recall of 0.9, by metric l2
and seeds 1 to 3; and all rows of the clusters in each other. Prints the rows of a table.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

WIDTH, CENTERS, DEVIATION, QUERIES, K = 128, 1000, 0.25, 1000, 10


def write(room, records):
    draw = np.random.default_rng(7)
    centers = draw.standard_normal((CENTERS, WIDTH))
    about = draw.integers(CENTERS, size=records + QUERIES)
    rows = (centers[about] + DEVIATION * draw.standard_normal((records + QUERIES, WIDTH))).astype(np.float32)
    np.save(room / "clusters.npy", rows[:records])
    np.save(room / "clusters-queries.npy", rows[records:])
    rows = draw.standard_normal((records + QUERIES, WIDTH)).astype(np.float32)
    np.save(room / "isotropic.npy", rows[:records])
    np.save(room / "isotropic-queries.npy", rows[records:])


def search(binary, room, base, queries, seed):
    spec = {"input": {"uri": f"{room}/{base}.npy", "format": "npy"}, "repro": {"seed": seed},
            "params": {"k": K, "index": "lsh", "lsh": {"recall": 0.9}}}
    if queries:
        spec["queries"] = {"uri": f"{room}/{queries}.npy", "format": "npy"}
    job = {"apiVersion": "v1", "kind": "NearestNeighbors", "metadata": {"name": base}, "spec": spec}
    with tempfile.TemporaryDirectory() as out:
        path = pathlib.Path(out) / "spec.json"
        path.write_text(json.dumps(job), encoding="utf-8")
        before = os.times()
        subprocess.run([binary, "run", "-q", "-f", str(path), "--out", out], check=True, capture_output=True)
        after = os.times()
        found = metrics(pathlib.Path(out))
    return found, after.children_user + after.children_system - before.children_user - before.children_system


def metrics(out):
    """The metric neighbors.lsh, wherever the output has it."""
    for path in out.glob("**/*.json"):
        text = path.read_text(encoding="utf-8")
        at = text.find('"neighbors.lsh"')
        if at >= 0:
            return json.JSONDecoder().raw_decode(text[text.index("{", at):])[0]
    raise SystemExit(f"no metric neighbors.lsh in {list(out.glob('**/*'))}")


def main(binary, directory, records=100_000):
    room = pathlib.Path(directory).resolve()
    room.mkdir(parents=True, exist_ok=True)
    write(room, records)
    runs = [(base, f"{base}-queries", seed) for base in ("clusters", "isotropic") for seed in (1, 2, 3)]
    for base, queries, seed in [*runs, ("clusters", "", 1)]:
        m, seconds = search(binary, room, base, queries, seed)
        print(f"| {base} | {m['queries']} | {seed} | {m['tables']} | {m['hashes']} | {m['width']:.2f} | "
              f"{100 * m['share']:.2f} % | {m['recall']:.4f} | {m['low']:.4f} to {m['high']:.4f} | "
              f"{m['predicted']:.4f} | {m['short']} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
