"""A SARIF file of csan's as GitLab's code quality report: code_quality.py FILE, to standard output."""

import json
import os
import sys
from urllib.parse import unquote, urlparse

SEVERITY = {"error": "critical", "warning": "minor", "note": "info"}


def relative(uri):
    """GitLab knows files by their path from the project's root, where this runs."""
    path = unquote(urlparse(uri).path)
    return os.path.relpath(path) if os.path.isabs(path) else path


def issues(sarif):
    for run in sarif["runs"]:
        for result in run.get("results", []):
            for location in result.get("locations", [])[:1]:
                place = location["physicalLocation"]
                yield {
                    "description": result["message"]["text"].split("\n", 1)[0],
                    "check_name": result["ruleId"],
                    "fingerprint": next(iter(result.get("partialFingerprints", {}).values()), result["ruleId"]),
                    "severity": SEVERITY.get(result.get("level", "error"), "major"),
                    "location": {
                        "path": relative(place["artifactLocation"]["uri"]),
                        "lines": {"begin": place.get("region", {}).get("startLine", 1)},
                    },
                }


with open(sys.argv[1], encoding="utf-8") as file:
    json.dump(list(issues(json.load(file))), sys.stdout, indent=2)
    print()
