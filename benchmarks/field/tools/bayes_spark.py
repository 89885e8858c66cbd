import os
import sys
import numpy as np
from pyspark.ml import Pipeline
from pyspark.ml.classification import NaiveBayes
from pyspark.ml.feature import CountVectorizer, IndexToString, RegexTokenizer, StringIndexer
from pyspark.sql import SparkSession

data, out = sys.argv[1], sys.argv[2]
spark = (SparkSession.builder.master(f"local[{os.environ['THREADS']}]").config("spark.driver.memory", "4g")
         .config("spark.ui.enabled", "false").getOrCreate())
read = lambda path: spark.read.csv(path, schema="label string, text string", sep="\t", quote="")
rows, test = read(data), read(f"{data}/../test.tsv")
labels = StringIndexer(inputCol="label", outputCol="y").fit(rows)
words = RegexTokenizer(inputCol="text", outputCol="words", pattern=r"\b\w\w+\b", gaps=False)
stages = [labels, words, CountVectorizer(inputCol="words", outputCol="features"), NaiveBayes(labelCol="y"),
          IndexToString(inputCol="prediction", outputCol="decision", labels=labels.labels)]
fit = Pipeline(stages=stages).fit(rows)
np.save(f"{out}/predictions.npy", np.array([r[0] for r in fit.transform(test).select("decision").collect()]))
order = np.argsort(fit.stages[2].vocabulary)
by_label = np.argsort(labels.labels)
np.save(f"{out}/model.npy", fit.stages[3].theta.toArray()[by_label][:, order])
spark.stop()
