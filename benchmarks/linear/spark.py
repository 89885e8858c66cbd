"""Lets Spark's LinearSVC and Gram's LinearModel train whole jobs in turn: python spark.py GRAM DATA SET ROUNDS

GRAM is the binary, DATA the directory that sets.py wrote, SET sparse or dense (500,000 x 54, which is written as csv
first, for both). Both have two cores and read the same text file; the whole process is counted: seconds on the wall, then
of the processors, which count where the machine has other work. The objective is hinge with C = 1 and no bias, which for
Spark is regParam 1/n. Needs pyspark and Java 17. Prints a row for each run.
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np


def table(directory):
    """The dense set as csv, label first."""
    path = pathlib.Path(directory) / "dense.csv"
    if not path.exists():
        x = np.load(pathlib.Path(directory) / "dense.npy")
        y = np.load(pathlib.Path(directory) / "dense-labels.npy")
        np.savetxt(path, np.column_stack([y, x]), fmt="%.9g", delimiter=",")
    return path


def spark(directory, name):
    """Trains in this process and prints the primal objective."""
    from pyspark.ml.classification import LinearSVC
    from pyspark.ml.feature import VectorAssembler
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import when

    session = (SparkSession.builder.master("local[2]").config("spark.driver.memory", "6g")
               .config("spark.ui.enabled", "false").getOrCreate())
    session.sparkContext.setLogLevel("ERROR")
    if name == "sparse":
        rows = session.read.format("libsvm").option("numFeatures", "100000").load(f"{directory}/sparse.libsvm")
    else:
        plain = session.read.csv(str(table(directory)), inferSchema=True)
        rows = VectorAssembler(inputCols=plain.columns[1:], outputCol="features").transform(
            plain.withColumnRenamed(plain.columns[0], "label"))
    least = rows.agg({"label": "min"}).first()[0]
    rows = rows.withColumn("label", when(rows.label == least, 0.0).otherwise(1.0)).select("label", "features").cache()
    n = rows.count()
    model = LinearSVC(maxIter=100, tol=1e-6, regParam=1 / n, fitIntercept=False, standardization=False).fit(rows)
    w = model.coefficients.toArray()
    loss = rows.rdd.map(lambda r: max(0.0, 1 - (2 * r.label - 1) * float(r.features.dot(w)))).sum()
    print(json.dumps({"primal": loss + 0.5 * float(w @ w), "iterations": model.summary().totalIterations
                      if hasattr(model, "summary") else None}), flush=True)


def used():
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def gram(binary, directory, name):
    source = ({"uri": f"{directory}/sparse.libsvm", "format": "libsvm", "width": 100000, "index_base": 1}
              if name == "sparse" else {"uri": str(table(directory)), "format": "csv", "label": 1})
    params = {"loss": "hinge", "C": 1, "tol": 1e-3, "bias_scale": 0,
              **({"solver": "ascend", "blocks": 2} if name == "sparse" else {"solver": "newton"})}
    spec = {"apiVersion": "v1", "kind": "LinearModel", "metadata": {"name": name},
            "spec": {"input": source, "params": params, "repro": {"seed": 7}}}
    with tempfile.TemporaryDirectory() as room:
        path = pathlib.Path(room) / "spec.json"
        path.write_text(json.dumps(spec), encoding="utf-8")
        began, before = time.perf_counter(), used()
        subprocess.run([binary, "run", "-q", "-f", str(path), "--out", room], check=True, capture_output=True)
        seconds = time.perf_counter() - began, used() - before
        report = json.loads(next(pathlib.Path(room).glob("*/report.json")).read_text(encoding="utf-8"))
    metrics = {m["name"]: m["value"] for m in report["metrics"]}
    primal = metrics[f"linear.round.{metrics['linear.rounds']:05d}.primal"]
    return seconds, f"{primal:.8g}, {metrics['linear.rounds']} rounds, proved gap {metrics['linear.gap']:.2g}"


def main(binary, directory, name, rounds):
    directory = os.path.abspath(directory)
    table(directory) if name == "dense" else None
    for turn in range(rounds):
        for contender in sorted(["Gram", "Spark"], reverse=turn % 2 == 1):
            if contender == "Gram":
                seconds, found = gram(binary, directory, name)
            else:
                began, before = time.perf_counter(), used()
                text = subprocess.run([sys.executable, "-B", __file__, "spark", directory, name], check=True,
                                      capture_output=True).stdout
                seconds, found = (time.perf_counter() - began, used() - before), text.decode().strip().splitlines()[-1]
            print(f"| {name} | {contender} | {seconds[0]:.1f} | {seconds[1]:.1f} | {found} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "spark":
        spark(sys.argv[2], sys.argv[3])
    else:
        main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
