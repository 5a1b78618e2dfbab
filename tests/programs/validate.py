#!/usr/bin/python3
"""What a JSON Schema says of documents: a line for each, "FILE: valid" or "FILE: KEY: why not".

    validate.py SCHEMA FILE...

References to other files are looked for beside the schema. Debian's python3-jsonschema is what
this needs, so it is Debian's Python that it is for.
"""
import json
import pathlib
import sys
import warnings

warnings.simplefilter("ignore", DeprecationWarning)  # RefResolver, since version 4.18
import jsonschema  # noqa: E402

path = pathlib.Path(sys.argv[1]).resolve()
schema = json.loads(path.read_text())
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema, resolver=jsonschema.RefResolver(path.as_uri(), schema))

for name in sys.argv[2:]:
    document = json.loads(pathlib.Path(name).read_text())
    problem = jsonschema.exceptions.best_match(validator.iter_errors(document))
    if problem is None:
        print(f"{name}: valid")
    else:
        print(f"{name}: {problem.json_path}: {problem.message}")
