"""Writes scores.json: figures of scikit-learn 1.9.1 for scores with ties, weights, one class, and three classes.

python3 scores.py > scores.json
"""
import json
import warnings

import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.metrics import (average_precision_score, brier_score_loss, log_loss, precision_recall_curve,
                             roc_auc_score, roc_curve, top_k_accuracy_score)

warnings.simplefilter("ignore")
rng = np.random.default_rng(20)


def weights_of(n, weighted):
    return rng.integers(0, 9, n).astype(np.float32) * np.float32(0.37) if weighted else np.ones(n, np.float32)


def number(v):
    return None if np.isnan(v) else float(v)


def binary(name, y, p, w, scale="probability"):
    case = {"name": name, "scale": scale, "labels": ["a", "b"], "truth": y.tolist(), "weights": w.tolist(),
            "scores": [[1 - v, v] if scale == "probability" else [-v, v] for v in p.tolist()],
            "auc": [number(roc_auc_score(y, p, sample_weight=w)) if len(set(y)) > 1 else None],
            "average_precision": [number(average_precision_score(y, p, sample_weight=w)) if y.any() else None]}
    if len(set(y)) > 1:
        fpr, tpr, threshold = roc_curve(y, p, sample_weight=w, drop_intermediate=False)
        case["roc"] = [[float(a), float(b)] for a, b in zip(fpr, tpr)]
        precision, recall, threshold = precision_recall_curve(y, p, sample_weight=w)
        case["pr"] = [[float(a), float(b)] for a, b in zip(recall, precision)]
    if scale == "probability":
        case["log_loss"] = float(log_loss(y, np.c_[1 - p, p], sample_weight=w, labels=[0, 1]))
        case["brier"] = float(brier_score_loss(y, p, sample_weight=w, pos_label=1))
        if (w == 1).all():
            true, predicted = calibration_curve(y, p, n_bins=10, pos_label=1)
            case["calibration"] = [[float(a), float(b)] for a, b in zip(predicted, true)]
    return case


def multi(name, y, p, w):
    def ovr(score, k):
        return number(score(y == k, p[:, k], sample_weight=w))

    case = {"name": name, "scale": "probability", "labels": ["a", "b", "c", "d"][:p.shape[1]], "truth": y.tolist(),
            "weights": w.tolist(), "scores": p.tolist(),
            "auc": [ovr(roc_auc_score, k) for k in range(p.shape[1])],
            "average_precision": [ovr(average_precision_score, k) for k in range(p.shape[1])],
            "macro_auc": float(roc_auc_score(y, p, multi_class="ovr", sample_weight=None)) if (w == 1).all() else None,
            "weighted_auc": float(roc_auc_score(y, p, multi_class="ovr", average="weighted")) if (w == 1).all()
            else None,
            "log_loss": float(log_loss(y, p, sample_weight=w)),
            "brier": float(brier_score_loss(y, p, sample_weight=w, labels=list(range(p.shape[1])))),
            "top": [float(top_k_accuracy_score(y, p, k=k, sample_weight=w)) for k in range(1, p.shape[1])]}
    return case


cases = []
for weighted in (False, True):
    for ties in (0, 20, 10):
        n = 80
        y = rng.integers(0, 2, n)
        p = np.clip(0.25 + 0.4 * y + 0.3 * rng.standard_normal(n), 0, 1)
        if ties:
            p = np.round(p * ties) / ties  # on the edges of bins, and 0 and 1 among them
        cases.append(binary(f"binary, ties {ties}, weights {weighted}", y, p, weights_of(n, weighted)))
    y, s = rng.integers(0, 2, 60), 1000 + rng.integers(0, 40, 60) / 7
    cases.append(binary(f"margins far from 0, weights {weighted}", y, s + y, weights_of(60, weighted), "margin"))
    y = rng.integers(0, 4, 90)
    p = np.exp(np.eye(4)[y] + rng.standard_normal((90, 4)))
    cases.append(multi(f"four classes, weights {weighted}", y, p / p.sum(1, keepdims=True), weights_of(90, weighted)))
p = np.round(rng.random(12), 1)
cases.append(binary("only the second class", np.ones(12, int), p, weights_of(12, False)))
cases.append(binary("only the first class", np.zeros(12, int), p, weights_of(12, False)))
cases.append(binary("one score", np.arange(9) % 2, np.full(9, 0.5), weights_of(9, False)))
json.dump(cases, __import__("sys").stdout, separators=(",", ":"))
