"""Writes tfidf.json: what scikit-learn makes of some texts, for tfidf_test.go."""
import json

import sklearn
from sklearn.feature_extraction.text import TfidfVectorizer

TEXTS = [
    "the cat sat on the mat", "the dog sat", "a cat and a dog and a bird", "the the the the mat", "birds sing",
    "a dog sat on a cat that sat on a mat", "sing, bird, sing!", "nothing here is like the rest", "the mat", "a a a",
]

cases = []
for smooth, idf in ((True, True), (False, True), (False, False)):
    for sublinear in (False, True):
        for norm in (None, "l2"):
            model = TfidfVectorizer(token_pattern=r"[^\W_]+", smooth_idf=smooth, use_idf=idf, sublinear_tf=sublinear,
                                    norm=norm)
            rows = model.fit_transform(TEXTS).toarray()
            cases.append({
                "idf": "smooth" if smooth else "plain" if idf else "none", "sublinear": sublinear,
                "scale": norm or "none", "terms": model.get_feature_names_out().tolist(),
                "weights": model.idf_.tolist() if idf else None, "rows": rows.tolist(),
            })
with open("tfidf.json", "w") as out:
    json.dump({"scikit-learn": sklearn.__version__, "texts": TEXTS, "cases": cases}, out, indent=0)
    out.write("\n")
