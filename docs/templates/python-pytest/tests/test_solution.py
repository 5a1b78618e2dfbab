"""What the program must do, seen from outside."""

import os
import subprocess
import unittest


def median(*numbers):
    """What the submission prints for these; it has two seconds."""
    run = subprocess.run(
        [os.environ["ASSAY_EXEC"], "--timeout", "2s", "--", "python3", "solution.py"],
        input="".join(f"{n}\n" for n in numbers), capture_output=True, text=True)
    if run.returncode != 0:
        raise AssertionError(f"exit status {run.returncode}: {run.stderr[-300:]}")
    return float(run.stdout)


class Median(unittest.TestCase):
    def test_one(self):
        self.assertEqual(median(4), 4)

    def test_odd(self):
        self.assertEqual(median(1, 2, 9), 2)

    def test_even(self):
        self.assertEqual(median(1, 2, 3, 10), 2.5)

    def test_unsorted(self):
        self.assertEqual(median(9, 1, 5, 3, 7), 5)

    def test_negative(self):
        self.assertEqual(median(-3, -20, -1), -3)
