"""Threads, a pool of processes, a subprocess, a pseudo-terminal."""
import multiprocessing
import os
import pty
import subprocess
import threading


def square(n):
    return n * n


if __name__ == "__main__":
    seen = []
    threads = [threading.Thread(target=seen.append, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    with multiprocessing.Pool(2) as pool:
        total = sum(pool.map(square, range(10)))
    child = subprocess.run(["sh", "-c", "exit 3"]).returncode
    master, slave = pty.openpty()
    print(len(seen), "threads, pool", total, "child", child, "terminal", os.isatty(slave))
