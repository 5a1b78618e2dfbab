#!/usr/bin/env python3
"""Writes the rows of postgres_objects (runner/store/schema_postgres.c), after a migration was added.

    postgres-objects.py URL

URL is a database that was just made, with a store in it; it is asked what `assay results verify` asks.
"""

import os
import re
import subprocess
import sys

SOURCE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../runner/store/postgres_check.c")


def query():
    with open(SOURCE) as source:
        text = re.search(r"catalog\[\] =(.*?);\n", source.read(), re.S).group(1)
    return "".join(re.findall(r'"(.*?)"', re.sub(r"/\*.*?\*/", "", text, flags=re.S)))


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


command = ["psql", "-XAt", "-F", "\t", "-c", "SET search_path = pg_catalog, pg_temp", "-c", query(), sys.argv[1]]
for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
    if line.count("\t") == 2:
        name, definition, _ = line.split("\t")
        print(f"        {{{quoted(name)}, {quoted(definition)}}},")
