"""Lets whole jobs of kind LinearModel and LIBLINEAR run in turn: python race.py GRAM DATA ROUNDS

GRAM is the binary, DATA the directory that sets.py wrote. Each contender runs on one core, and counts the time that it
had the processor: of Gram and of LIBLINEAR's own program (Debian's liblinear-tools) the whole process, which reads its
files, of LIBLINEAR in scikit-learn the fit alone, of what is in memory.
Prints the rows of a table of medians.
"""

import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CORE = str(max(os.sched_getaffinity(0)))
INPUTS = {
    "dense": {"uri": "dense.npy", "format": "npy", "labels_uri": "dense-labels.npy"},
    "sparse": {"uri": "sparse.libsvm", "format": "libsvm", "width": 100000, "index_base": 1},
}
# Data set, contender, parameters of the job or iterations or the tolerance of LIBLINEAR's own program.
RACES = [
    ("dense", "Gram, newton", {"solver": "newton"}),
    ("dense", "LIBLINEAR, 30 iterations", 30),
    ("sparse", "Gram, ascend, 1 block", {"solver": "ascend", "blocks": 1}),
    ("sparse", "Gram, ascend, 4 blocks", {"solver": "ascend", "blocks": 4}),
    ("sparse", "LIBLINEAR, 10 iterations", 10),
    ("sparse", "liblinear-train -s 3 -e 0.2, with reading", "0.2"),
]


def timed(command):
    """Seconds of the processor that a command took, and what it printed."""
    before = os.times()
    env = {**os.environ, "GOMAXPROCS": "1", "OMP_NUM_THREADS": "1"}
    text = subprocess.run(["taskset", "-c", CORE, *command], check=True, capture_output=True, env=env).stdout
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system, text


def gram(binary, directory, name, params):
    source = {k: os.path.join(os.path.abspath(directory), v) if k.endswith("uri") else v for k, v in INPUTS[name].items()}
    fixed = {"loss": "hinge", "C": 1, "tol": 1e-3, "bias_scale": 0}
    spec = {"apiVersion": "v1", "kind": "LinearModel", "metadata": {"name": name},
            "spec": {"input": source, "params": {**fixed, **params}, "repro": {"seed": 7}}}
    with tempfile.TemporaryDirectory() as room:
        path = pathlib.Path(room) / "spec.json"
        path.write_text(json.dumps(spec), encoding="utf-8")
        seconds, _ = timed([binary, "run", "-q", "-f", str(path), "--out", room])
        report = json.loads(next(pathlib.Path(room).glob("*/report.json")).read_text(encoding="utf-8"))
    metrics = {m["name"]: m["value"] for m in report["metrics"]}
    last = metrics[f"linear.round.{metrics['linear.rounds']:05d}.primal"]
    return seconds, last, f"{metrics['linear.rounds']} rounds, gap {metrics['linear.gap']:.2g}"


def liblinear(name, iterations):
    result = json.loads(timed([sys.executable, "-B", os.path.join(HERE, "fit.py"), name, str(iterations)])[1])
    return result["seconds"], result["primal"], ""


def program(directory, name, tolerance):
    """LIBLINEAR's own program, which reads the same text: the whole process."""
    with tempfile.TemporaryDirectory() as room:
        path = os.path.join(room, "model")
        seconds, text = timed(["liblinear-train", "-s", "3", "-c", "1", "-e", tolerance,
                               os.path.join(directory, INPUTS[name]["uri"]), path])
        result = subprocess.run([sys.executable, "-B", os.path.join(HERE, "fit.py"), name, path], check=True,
                                capture_output=True).stdout
    iterations = re.search(rb"#iter = (\d+)", text).group(1).decode()
    return seconds, json.loads(result)["primal"], f"{iterations} iterations"


def main(binary, directory, rounds):
    found = {}
    for turn in range(rounds):
        for at in range(len(RACES)):
            name, contender, of = RACES[(at + turn) % len(RACES)]
            if isinstance(of, dict):
                run = gram(binary, directory, name, of)
            elif isinstance(of, str):
                run = program(directory, name, of)
            else:
                run = liblinear(name, of)
            found.setdefault((name, contender), []).append(run)
            print(name, contender, *run, file=sys.stderr, flush=True)
    print("| data | contender | s of one core, median (least to most) | primal objective | |\n|---|---|---|---|---|")
    for name, contender, _ in RACES:
        runs = found[name, contender]
        seconds = [r[0] for r in runs]
        print(f"| {name} | {contender} | {statistics.median(seconds):.1f} ({min(seconds):.1f} to {max(seconds):.1f}) "
              f"| {runs[0][1]:.1f} | {runs[0][2]} |")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
