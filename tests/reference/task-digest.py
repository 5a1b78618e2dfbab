#!/usr/bin/env python3
"""The digest of a task as docs/result.md has it, in another language: task-digest.py TASK"""

import hashlib
import os
import sys


def add_tree(seen, folder, above):
    for name in sorted(os.listdir(folder), key=os.fsencode):
        path, shown = os.path.join(folder, name), above + name
        if os.path.islink(path):
            kind, content = b"l", os.fsencode(os.readlink(path))
        elif os.path.isdir(path):
            kind, content = b"d", b""
        elif os.path.isfile(path):
            kind = b"x" if os.stat(path).st_mode & 0o100 else b"f"
            with open(path, "rb") as file:
                content = file.read()
        else:
            kind, content = b"s", b""
        seen.update(kind + os.fsencode(shown) + b"\0" + len(content).to_bytes(8, "little") + content)
        if kind == b"d":
            add_tree(seen, path, shown + "/")


def main():
    task = sys.argv[1]
    with open(os.path.join(task, "task.json"), "rb") as file:
        lines = f"{hashlib.sha256(file.read()).hexdigest()}  task.json\n"
    for name in ("tests", "truth", "tools"):
        folder = os.path.join(task, name)
        if os.path.isdir(folder):
            seen = hashlib.sha256()
            add_tree(seen, folder, "")
            lines += f"{seen.hexdigest()}  {name}\n"
    print(hashlib.sha256(lines.encode()).hexdigest())


main()
