"""Writes logproba.json: GaussianNB.predict_log_proba of scikit-learn 1.9.1, on records near to and far from the classes,
on columns far from zero, with weights and with given priors.

python3 logproba.py > logproba.json
"""
import json

import numpy as np
from sklearn.naive_bayes import GaussianNB

rng = np.random.default_rng(7)


def grid(x):
    return np.round(x * 64) / 64  # float32 has these numbers to the bit


def case(name, center, spread, priors=None, weighted=False, smoothing=1e-9):
    y = np.arange(24) % 3
    x = grid(center + spread * (rng.normal(size=(24, 2)) + 3 * y[:, None]))
    w = rng.integers(1, 9, 24) / 4 if weighted else np.ones(24)
    asked = grid(center + spread * np.array([[0, 0], [4, 3], [6, 7], [100, -100], [-3000, 2]]))
    model = GaussianNB(priors=priors, var_smoothing=smoothing).fit(x, y, sample_weight=w)
    return {"name": name, "x": x.tolist(), "labels": ["abc"[i] for i in y], "weights": w.tolist(),
            "priors": priors, "var_smoothing": smoothing, "asked": asked.tolist(),
            "log_proba": model.predict_log_proba(asked).tolist(), "proba": model.predict_proba(asked).tolist()}


print(json.dumps([case("near zero", 0, 1), case("far from zero", 2.0**14, 1), case("weights", 5, 2, weighted=True),
                  case("given priors", -3, 1, priors=[0.9, 0.0625, 0.0375]),
                  case("smoothed", 0, 10, smoothing=0.5, weighted=True)], indent=None).replace("}, {", "},\n{"))
