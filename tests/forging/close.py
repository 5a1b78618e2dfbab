# Closes its output, and stays.
import os
import time

os.closerange(0, 3)
time.sleep(1000)
