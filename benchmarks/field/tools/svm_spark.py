import os
import sys
import numpy as np
from pyspark.ml.classification import LinearSVC
from pyspark.sql import SparkSession
from pyspark.sql.functions import col

data, out, width = sys.argv[1], sys.argv[2], int(sys.argv[3])
spark = (SparkSession.builder.master(f"local[{os.environ['THREADS']}]").config("spark.driver.memory", "4g")
         .config("spark.ui.enabled", "false").getOrCreate())
rows = spark.read.format("libsvm").option("numFeatures", str(width)).load(data)
rows = rows.withColumn("label", (col("label") + 1) / 2).cache()
machine = LinearSVC(regParam=1 / rows.count(), fitIntercept=False, standardization=False)
np.save(f"{out}/weights.npy", machine.fit(rows).coefficients.toArray())
spark.stop()
