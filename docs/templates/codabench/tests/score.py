"""The part of the labels that is right; what is missing is wrong."""

import csv
import json
import os
import sys

source, target = sys.argv[1:]


def read(*path):
    with open(os.path.join(source, *path), encoding="utf-8", errors="replace", newline="") as file:
        return {row[0].strip(): row[1].strip() for row in csv.reader(file) if len(row) == 2}


truth = read("ref", "labels.csv")
predicted = read("res", "predictions.csv")
right = sum(predicted.get(number) == label for number, label in truth.items())
with open(os.path.join(target, "scores.json"), "w") as file:
    json.dump({"accuracy": right / len(truth), "predicted": len(predicted)}, file)
