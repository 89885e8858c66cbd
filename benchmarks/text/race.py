"""Lets whole jobs over one file of texts run in turn: python race.py CONTENDERS FILE ROUNDS

CONTENDERS are gram=BINARY, one or more of them by other names too (before=BINARY), sklearn and spark, separated by
commas. FILE is what `go run ./benchmarks/text FILE` wrote. Each contender is a process of its own with both cores: it
reads the file, counts the words of 2.35 million texts and trains multinomial naive Bayes with alpha 1. Words are runs of
letters and numbers in lower case for all, so that the terms and their counts can be compared.
Prints medians, least and most: seconds on the wall, of the processors, and the most memory that was resident.
"""

import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

WORDS = r"[^\W_]+"


def sklearn(path):
    """Trains in this process. Returns the terms and their occurrences."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    labels, texts = [], []
    with open(path, encoding="utf-8", newline="\n") as lines:
        for line in lines:
            label, _, text = line.rstrip("\n").split("\t")
            labels.append(label)
            texts.append(text)
    words = CountVectorizer(token_pattern=WORDS)
    counts = words.fit_transform(texts)
    model = MultinomialNB(alpha=1).fit(counts, labels)
    return len(words.vocabulary_), int(model.feature_count_.sum())


def spark(path):
    """Trains in this process. Returns the terms and their occurrences in the model's dictionary."""
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import CountVectorizer, RegexTokenizer, StringIndexer
    from pyspark.sql import SparkSession

    session = (SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g")
               .config("spark.ui.enabled", "false").getOrCreate())
    session.sparkContext.setLogLevel("ERROR")
    rows = session.read.csv(path, sep="\t", quote="", schema="topic STRING, word STRING, text STRING")
    stages = [StringIndexer(inputCol="topic", outputCol="label"),
              RegexTokenizer(inputCol="text", outputCol="words", pattern=r"[^\p{L}\p{N}]+"),
              CountVectorizer(inputCol="words", outputCol="features", vocabSize=1 << 20),
              NaiveBayes(smoothing=1.0, modelType="multinomial")]
    model = Pipeline(stages=stages).fit(rows)
    return len(model.stages[2].vocabulary), None, *of_machine(session.sparkContext._gateway.proc.pid)


def of_machine(pid):
    """Seconds of the processors and MiB of Java, which is no child that is waited for."""
    ticks = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    peak = re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1)
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"), int(peak) / 1024


def gram(binary, path, room):
    spec = {"apiVersion": "v1", "kind": "NaiveBayes", "metadata": {"name": "texts"},
            "spec": {"input": {"uri": os.path.abspath(path), "format": "tsv", "label": 1, "text": 3},
                     "params": {"alpha": 1}, "repro": {"seed": 7}}}
    file = pathlib.Path(room) / "spec.json"
    file.write_text(json.dumps(spec), encoding="utf-8")
    return [binary, "run", "-q", "-f", str(file), "--out", room]


def told(room):
    """The terms and their occurrences, by the report of a job."""
    report = json.loads(next(pathlib.Path(room).glob("*/report.json")).read_text(encoding="utf-8"))
    metrics = {m["name"]: m["value"] for m in report["metrics"]}
    return metrics["vocabulary.terms"], metrics["counts.tokens"]


def timed(name, binary, path):
    """Seconds on the wall and of the processors, MiB, and what was counted."""
    with tempfile.TemporaryDirectory() as room:
        command = gram(binary, path, room) if binary else [sys.executable, "-B", __file__, name, path]
        out = pathlib.Path(room) / "out"
        with out.open("wb") as to:
            began = time.perf_counter()
            child = subprocess.Popen(command, stdout=to, stderr=subprocess.DEVNULL)
            _, status, used = os.wait4(child.pid, 0)
            wall = time.perf_counter() - began
        if status:
            raise SystemExit(f"{name} failed: {status}")
        found = told(room) if binary else tuple(json.loads(out.read_bytes().splitlines()[-1]))
    more = found[2:] or (0, 0)
    return wall, used.ru_utime + used.ru_stime + more[0], used.ru_maxrss / 1024 + more[1], found[:2]


def main(contenders, path, rounds):
    runs = {}
    for turn in range(rounds):
        for at in range(len(contenders)):
            name, _, binary = contenders[(at + turn) % len(contenders)].partition("=")
            run = timed(name, binary, path)
            runs.setdefault(name, []).append(run)
            print(name, *run, f"load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
    print("| contender | s on the wall, median (least to most) | s of the processors | MiB | terms, occurrences |")
    print("|---|---|---|---|---|")
    for name, of in runs.items():
        wall, cpu, memory, found = zip(*of)
        spread = [f"{statistics.median(s):.2f} ({min(s):.2f} to {max(s):.2f})" for s in (wall, cpu)]
        print(f"| {name} | {' | '.join(spread)} | {statistics.median(memory):.0f} | {found[0]} |")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps((sklearn if sys.argv[1] == "sklearn" else spark)(sys.argv[2])))
    else:
        main(sys.argv[1].split(","), sys.argv[2], int(sys.argv[3]))
