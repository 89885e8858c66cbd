import glob
import sys
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

data, out = sys.argv[1], sys.argv[2]
read = lambda files: zip(*(line.rstrip("\n").split("\t") for f in files for line in open(f, encoding="utf-8")))
labels, texts = read(sorted(glob.glob(f"{data}/part-*.tsv")))
truth, test = read([f"{data}/../test.tsv"])
words = CountVectorizer()
fit = MultinomialNB().fit(words.fit_transform(texts), labels)
np.save(f"{out}/predictions.npy", fit.predict(words.transform(test)))
np.save(f"{out}/model.npy", fit.feature_log_prob_)
