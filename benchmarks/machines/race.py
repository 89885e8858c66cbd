"""Lets whole jobs of kind SupportVectorMachine and scikit-learn's SVC run in turn: python race.py GRAM DATA SET ROUNDS

GRAM is the binary, DATA a directory for made-up data, SET one of made (5,000 x 100), mnist10k (the first 10,000 pictures
of MNIST) and mnist (60,000); `make data` fetches the pictures. Gram has all cores, and counts the seconds of the whole
process, which reads its files and writes its reports. SVC has one core, as it can use no more, and a cache of 2 GB; it
counts the seconds of the fit alone, of what is in memory. Prints the rows of a table of medians: seconds on the wall, then
of the processors, which count where the machine has other work.
"""

import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers"))
import data  # noqa: E402

PICTURES = HERE.parent.parent / "data"
KERNELS = {"made": {"gamma": 0.01, "C": 1}, "mnist10k": {"gamma": 2.5, "C": 5}, "mnist": {"gamma": 2.5, "C": 5}}


def made():
    """Two classes on both sides of a sphere, with noise."""
    x = data.normals(13, 1, 5000, 100)
    noise = data.normals(13, 2, 5000)
    return x, ((x[:, :20] ** 2).sum(axis=1) + 2 * noise > 20).astype(np.int64)


def pictures(name, part="train"):
    read = lambda what: (PICTURES / name / f"{part}-{what}-ubyte").read_bytes()
    y = np.frombuffer(read("labels-idx1")[8:], np.uint8)
    return np.frombuffer(read("images-idx3")[16:], np.uint8).reshape(len(y), 784), y


def source(name, room):
    if name == "made":
        x, y = made()
        np.save(pathlib.Path(room) / "made.npy", x)
        np.save(pathlib.Path(room) / "made-labels.npy", y)
        return {"uri": f"{room}/made.npy", "format": "npy", "labels_uri": f"{room}/made-labels.npy"}
    folder = PICTURES / name
    return {"uri": f"{folder}/train-images-idx3-ubyte", "labels_uri": f"{folder}/train-labels-idx1-ubyte",
            "format": "idx"}


def used(who):
    spent = resource.getrusage(who)
    return spent.ru_utime + spent.ru_stime


def gram(binary, name, room):
    scale = {} if name == "made" else {"features": {"scale": "l2"}}
    spec = {"apiVersion": "v1", "kind": "SupportVectorMachine", "metadata": {"name": name},
            "spec": {"input": source(name, room), "params": {"kernel": "rbf", **KERNELS[name], **scale},
                     "repro": {"seed": 7}}}
    with tempfile.TemporaryDirectory(dir=room) as out:
        path = pathlib.Path(out) / "spec.json"
        path.write_text(json.dumps(spec), encoding="utf-8")
        began, before = time.perf_counter(), used(resource.RUSAGE_CHILDREN)
        subprocess.run([binary, "run", "-q", "-f", str(path), "--out", out], check=True, capture_output=True)
        seconds = time.perf_counter() - began, used(resource.RUSAGE_CHILDREN) - before
        report = json.loads(next(pathlib.Path(out).glob("*/report.json")).read_text(encoding="utf-8"))
        wrong = missed(binary, name, next(pathlib.Path(out).glob("*/model.safetensors")))
    metrics = {m["name"]: m["value"] for m in report["metrics"]}
    return seconds, metrics["svm.supports"], f"{metrics['svm.rounds']} rounds, gap {metrics['svm.gap']:.2g}{wrong}"


def missed(binary, name, model):
    """What Gram's model misses of the test pictures; not timed."""
    if name != "mnist":
        return ""
    folder = PICTURES / name
    with tempfile.TemporaryDirectory() as out:
        path = pathlib.Path(out) / "spec.json"
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Predict", "metadata": {"name": name}, "spec": {"model": str(model), "input": {
                "uri": f"{folder}/t10k-images-idx3-ubyte", "labels_uri": f"{folder}/t10k-labels-idx1-ubyte",
                "format": "idx"}}}), encoding="utf-8")
        subprocess.run([binary, "run", "-q", "-f", str(path), "--out", out], check=True, capture_output=True)
        report = json.loads(next(pathlib.Path(out).glob("*/report.json")).read_text(encoding="utf-8"))
    found = {m["name"]: m["value"] for m in report["metrics"]}
    return f", accuracy {found['evaluation']['accuracy']}"


def svc(name):
    from sklearn.svm import SVC

    x, y = made() if name == "made" else pictures(name)
    x = x.astype(np.float64)
    if name != "made":
        x /= np.linalg.norm(x, axis=1, keepdims=True)
    machine = SVC(kernel="rbf", cache_size=2000, **KERNELS[name])
    began, before = time.perf_counter(), used(resource.RUSAGE_SELF)
    machine.fit(x, y)
    seconds, wrong = (time.perf_counter() - began, used(resource.RUSAGE_SELF) - before), ""
    if name == "mnist":
        x, y = pictures(name, "t10k")
        wrong = f"accuracy {machine.score(x / np.linalg.norm(x, axis=1, keepdims=True), y)}"
    return seconds, int(machine.n_support_.sum()), wrong


def main(binary, room, name, rounds):
    found = {"Gram": [], "SVC": []}
    for turn in range(rounds):
        for contender in sorted(found, reverse=turn % 2 == 1):
            run = gram(binary, name, os.path.abspath(room)) if contender == "Gram" else svc(name)
            found[contender].append(run)
            print(name, contender, *run, file=sys.stderr, flush=True)
    for contender, runs in found.items():
        wall, spent = ([r[0][i] for r in runs] for i in range(2))
        print(f"| {name} | {contender} | {statistics.median(wall):.1f} ({min(wall):.1f} to {max(wall):.1f}) "
              f"| {statistics.median(spent):.1f} | {runs[0][1]} | {runs[0][2]} |")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
