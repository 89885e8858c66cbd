"""Makes iris-similarities.csv: of every second iris the similarity 1 / (1 + d) with each of them, d being the sum of the
absolute differences of the four columns, and the species. Run it in this folder: python3 iris-similarities.py.
"""
import csv

with open("iris.csv") as file:
    irises = list(csv.reader(file))[1:][::2]
rows = [[float(v) for v in iris[:4]] for iris in irises]
with open("iris-similarities.csv", "w") as file:
    for iris, x in zip(irises, rows):
        values = [1 / (1 + sum(abs(a - b) for a, b in zip(x, y))) for y in rows]
        file.write(",".join("%.7g" % v for v in values) + "," + iris[4] + "\n")
