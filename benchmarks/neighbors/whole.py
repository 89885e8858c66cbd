"""Measures a k-NN graph as a whole job beside FAISS: python whole.py GRAM DIRECTORY [RECORDS [SLOTS [ROUNDS [SHARD [SHARE]]]]]

Writes RECORDS (200,000) rows of 128 numbers of float32, drawn normally, to DIRECTORY as npy, and makes their graph of
kind NeighborGraph with k = 15 by `gram run` with SLOTS (2) slots: reading the file, the search, and the arrays are in
its time. IndexFlatL2 of FAISS, with as many threads, holds the rows in memory before its clock starts, and searches one
in SHARE (10) of them, evenly spread, before and after each of the ROUNDS (1) of Gram; its time is SHARE times that. The
rows of 100 of the queries are compared with all distances in float64. Prints the rows of a table, and the ratios. Needs
faiss-cpu. OPENBLAS_NUM_THREADS and OMP_NUM_THREADS are set to SLOTS. OpenBLAS, which knows few CPUs by name, is told
its widest kernels unless OPENBLAS_CORETYPE is set: without them FAISS was four times as slow on one machine.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

WIDTH, K, SEED, CHECKED = 128, 15, 7, 100


def graph(binary, table, slots, shard):
    """Runs the job. Returns its seconds, those of its processor time, its memory, and the two arrays of the graph."""
    import numpy as np
    spec = {"apiVersion": "v1", "kind": "NeighborGraph", "metadata": {"name": "whole"},
            "spec": {"input": {"uri": str(table), "format": "npy", "shard_bytes": shard << 20}, "params": {"k": K}, "repro": {"seed": SEED}}}
    with tempfile.TemporaryDirectory(dir=table.parent) as room:
        path = pathlib.Path(room) / "spec.json"
        path.write_text(json.dumps(spec), encoding="utf-8")
        started = time.monotonic()
        with open(f"{room}/log", "wb") as log:
            job = subprocess.Popen([binary, "run", "-q", "-f", path, "--out", f"{room}/out", "--slots", str(slots)],
                                   stdout=log, stderr=log)
            _, status, used = os.wait4(job.pid, 0)
        seconds = time.monotonic() - started
        if status != 0:
            sys.exit(pathlib.Path(f"{room}/log").read_text(encoding="utf-8"))
        uri = next(pathlib.Path(room, "out").glob("whole-*")).as_uri()
        found = {}
        for folder in ("indices", "distances"):
            subprocess.run([binary, "get", uri, folder, "--out", f"{room}/{folder}.npy"], check=True,
                           capture_output=True)
            found[folder] = np.load(f"{room}/{folder}.npy")
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20, found


def check(rows, indices, distances):
    """Compares some rows of the graph with all distances in float64, a part of the records at a time."""
    import numpy as np
    assert indices.shape == distances.shape == (len(rows), K)
    chosen = np.linspace(0, len(rows) - 1, CHECKED).astype(int)
    squares = np.empty((CHECKED, len(rows)))
    for first in range(0, len(rows), 1 << 14):
        part = rows[first : first + (1 << 14)].astype(np.float64)
        for n, i in enumerate(chosen):
            squares[n, first : first + len(part)] = np.square(part - rows[i]).sum(axis=1)
    for n, i in enumerate(chosen):
        squares[n, i] = -1
        order = np.lexsort((np.arange(len(rows)), squares[n]))[:K]
        np.testing.assert_array_equal(indices[i], order)
        np.testing.assert_allclose(distances[i], np.sqrt(np.maximum(0, squares[n, order])), rtol=1e-6)


def tell_openblas():
    """As peers.Settings of benchmarks/peers does."""
    flags = set()
    info = pathlib.Path("/proc/cpuinfo")
    if info.exists():
        lines = [line for line in info.read_text(encoding="utf-8").splitlines() if line.startswith("flags")]
        flags = set(lines[0].split()) if lines else flags
    if {"avx512f", "avx512dq", "avx512bw", "avx512vl"} <= flags:
        os.environ.setdefault("OPENBLAS_CORETYPE", "SKYLAKEX")
    elif {"avx2", "fma"} <= flags:
        os.environ.setdefault("OPENBLAS_CORETYPE", "HASWELL")


def main(binary, directory, records=200_000, slots=2, rounds=1, shard=8, share=10):
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(slots)  # before numpy reads them
    tell_openblas()
    import faiss
    import numpy as np
    room = pathlib.Path(directory).resolve()
    room.mkdir(parents=True, exist_ok=True)
    table = room / f"whole-{records}.npy"
    rows = np.random.default_rng(SEED).standard_normal((records, WIDTH), dtype=np.float32)
    np.save(table, rows)
    index = faiss.IndexFlatL2(WIDTH)
    index.add(rows)
    queries = np.ascontiguousarray(rows[::share])

    def peer():
        started, before = time.monotonic(), time.process_time()
        index.search(queries, K)
        times = records / len(queries)
        seconds, used = (time.monotonic() - started) * times, (time.process_time() - before) * times
        print(f"| FAISS {faiss.__version__}, of {len(queries)} queries | {seconds:.1f} | {used:.1f} | |", flush=True)
        return seconds

    print(f"| {records} x {WIDTH}, k = {K}, {slots} slots, shards of {shard} MiB | seconds | of the processor | GiB |\n|---|---:|---:|---:|")
    theirs, ratios = peer(), []
    for _ in range(rounds):
        ours, used, memory, found = graph(binary, table, slots, shard)
        print(f"| Gram | {ours:.1f} | {used:.1f} | {memory:.2f} |", flush=True)
        after = peer()
        ratios.append((theirs + after) / 2 / ours)
        theirs = after
        check(rows, found["indices"], found["distances"])
    print("ratios:", ", ".join(f"{r:.2f}" for r in ratios), "median", f"{statistics.median(ratios):.2f}")
    table.unlink()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
