#!/usr/bin/env python3
"""Ask for some factorials, in a process of its own; what cannot be imported is not gradable."""

import json
import math
import subprocess
import sys

ASK = "import factorial; print(factorial.factorial({}))"


def ask(what):
    return subprocess.run([sys.executable, "-c", what], cwd="/grade/student", timeout=5,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)


def grade(n):
    try:
        right = ask(ASK.format(n)).stdout.strip() == str(math.factorial(n))
    except subprocess.TimeoutExpired:
        right = False
    return {"name": f"factorial({n})", "points": int(right), "max_points": 1}


def grade_all():
    if ask("import factorial").returncode != 0:
        return {"gradable": False, "message": "factorial.py cannot be imported"}
    tests = [grade(n) for n in (0, 1, 5, 30)]
    return {"gradable": True, "score": sum(t["points"] for t in tests) / len(tests), "tests": tests}


with open("/grade/results/results.json", "w") as file:
    json.dump(grade_all(), file)
