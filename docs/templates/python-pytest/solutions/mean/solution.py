# The mean is not the median.
import statistics
import sys

print(statistics.mean(float(line) for line in sys.stdin))
