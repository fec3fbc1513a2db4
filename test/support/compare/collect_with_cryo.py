"""Collects datasets with cryo: python3 collect_with_cryo.py URL DIRECTORY JOBS.

JOBS is a JSON object of cryo's arguments by dataset. Prints a JSON object of rows by dataset, with all columns, values
as text, and bytes as hex. A dataset that cryo does not complete is null."""

import glob
import json
import os
import sys

import cryo

url, directory, jobs = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
found = {}
for name, arguments in jobs.items():
    place = os.path.join(directory, name)
    os.makedirs(place)
    try:
        cryo.freeze(
            name,
            rpc=url,
            output_dir=place,
            file_format='json',
            include_columns=['all'],
            hex=True,
            no_report=True,
            verbose=False,
            **arguments,
        )
    except TypeError:  # also for a dataset that this version lacks
        pass
    files = sorted(glob.glob(os.path.join(place, '*.json')))
    if not files:
        found[name] = None
        continue
    rows = []
    for path in files:
        with open(path) as file:
            rows += json.load(file)
    text = lambda value: value if value is None or isinstance(value, str) else json.dumps(value)
    found[name] = [{column: text(value) for column, value in row.items()} for row in rows]
json.dump(found, sys.stdout)
