import os
import sys
import numpy as np
from pyspark.ml.clustering import KMeans
from pyspark.ml.feature import VectorAssembler
from pyspark.sql import SparkSession

data, out, k = sys.argv[1], sys.argv[2], int(sys.argv[3])
spark = (SparkSession.builder.master(f"local[{os.environ['THREADS']}]").config("spark.driver.memory", "4g")
         .config("spark.ui.enabled", "false").getOrCreate())
columns = [f"x{j}" for j in range(32)]
schema = ", ".join(["id int"] + [f"{c} float" for c in columns])
rows = spark.read.csv(data, schema=schema, header=True)
rows = VectorAssembler(inputCols=columns, outputCol="features").transform(rows).select("features").cache()
fit = KMeans(k=k, initMode="random", maxIter=10, tol=0, seed=7).fit(rows)
np.save(f"{out}/centers.npy", np.array(fit.clusterCenters()))
spark.stop()
