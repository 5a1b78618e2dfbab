import statistics
import sys

print(statistics.median(float(line) for line in sys.stdin))
