"""Runs the PyTorch samples under csan: each must be reported with the lines that its comments name
(# previous, # current, # allocation), its fixed twin not at all.

Usage: check_samples.py CSAN SAMPLES [--device=gpu|embedded] [NAME...]"""

import argparse
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path


def marked(path):
    """Word of a comment: the number of its line."""
    lines = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        comment = re.search(r"  # ([a-z, ]+)$", line)
        for word in comment.group(1).split(", ") if comment else ():
            lines[word] = number
    return lines


def sections(report):
    """The stacks of a report: text under each of its headings."""
    found = {}
    headings = {
        "current": r"^(?:Access|Access to the new tensor) by .*$",
        "previous": r"^(?:Previous access) by .*$",
        "allocation": r"^Tensor was allocated with stack trace:$",
    }
    at = {name: re.search(text, report, re.M) for name, text in headings.items()}
    starts = sorted((m.start(), name) for name, m in at.items() if m)
    for (start, name), (end, _) in zip(starts, starts[1:] + [(len(report), "")]):
        found[name] = report[start:end]
    return found


def check(csan, device, path, timeout):
    """What is wrong, or None."""
    command = [csan, "run", f"--device={device}", sys.executable, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    reports = done.stderr.count("CSAN detected")
    log = f"\n{done.stderr[-4000:]}"
    if path.stem.endswith("_fixed"):
        silent = done.returncode == 0 and not reports
        return None if silent else f"ended with {done.returncode} and {reports} reports{log}"
    if done.returncode == 0 or not reports:
        return f"ended with {done.returncode} and {reports} reports{log}"
    reported = sections(done.stderr[done.stderr.index("CSAN detected") :])
    for word, line in marked(path).items():
        if f'{path.name}", line {line}, in' not in reported.get(word, ""):
            return f"line {line} is not in the report's stack of '{word}'{log}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("csan")
    parser.add_argument("samples", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--timeout", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_intermixed_args()
    failed = passed = 0
    paths = [
        path
        for path in sorted(options.samples.glob("*.py"))
        if not options.names or any(name in path.stem for name in options.names)
    ]
    with ThreadPoolExecutor(options.jobs) as pool:
        run = partial(check, options.csan, options.device, timeout=options.timeout)
        results = list(pool.map(run, paths))
    for path, wrong in zip(paths, results):
        passed, failed = passed + (not wrong), failed + bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {path.stem}{': ' + wrong if wrong else ''}", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(bool(failed))


main()
