"""Two points for each N that comes out right."""

import json
import subprocess


def squares(n):
    run = subprocess.run(["sh", "/autograder/submission/squares.sh", str(n)], timeout=5,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    return run.stdout.split()


def grade(n):
    try:
        right = squares(n) == [str(i * i).encode() for i in range(1, n + 1)]
    except subprocess.TimeoutExpired:
        right = False
    return {"name": f"N = {n}", "score": 2 if right else 0, "max_score": 2}


with open("/autograder/results/results.json", "w") as file:
    json.dump({"tests": [grade(n) for n in (1, 2, 3, 10, 1000)]}, file)
