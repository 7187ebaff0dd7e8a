"""Runs the PyTorch samples with operators followed, with operators at rest, and in a second process of the
same program: the verdicts, the words and the lines of the reports are the same. As many processes run side by
side as there are cores.

Usage: check_repeated.py CSAN SAMPLES [--device=gpu|embedded] [--times=N] [--jobs=N] [NAME...]"""

import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROGRAM = Path(__file__).with_name("programs") / "repeated.py"
WAYS = ("followed", "rests", "rests again")


def run(options, sample, way, fixed):
    # An op whose pages it would take too long to guard is reported in its operator's words alone.
    said = "verbosity=1:host_guard_us=1000000" + (":operator_summaries=0" if way == "followed" else "")
    command = [options.csan, "run", f"--device={options.device}", sys.executable, str(PROGRAM), str(sample)]
    command += [f"--times={options.times}"] + ["--fixed"] * fixed
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=options.timeout,
        env={**os.environ, "CSAN_OPTIONS": said},
    )


def words(text):
    """What the first report says, without addresses, streams' numbers and notes. Operators that rest may have
    made more races by the time when the exception is raised."""
    if "CSAN detected" not in text:
        return []
    report = re.split(r"\ncsan:|\nTraceback", text.split("CSAN detected")[1])[0]
    lines = re.findall(r"^(?:Access|Previous access|Tensor was|writing|reading|aten::|  File).*$", report, re.M)
    return [re.sub(r"0x[0-9a-f]+|stream \w+|\d{6,}", "N", line) for line in lines]


def rested(text):
    return bool(re.search(r"operators rested|operators rest after", text))


def chain(options, sample, ways, fixed):
    """One way after the other: a second process has what the first one kept."""
    return {(way, fixed): run(options, sample, way, fixed) for way in ways}


def start(options, pool, sample):
    """What each way and twin said, later."""
    chains = [(WAYS[:1], False), (WAYS[1:], False), (WAYS[:1], True), (WAYS[1:], True)]
    return [pool.submit(chain, options, sample, ways, fixed) for ways, fixed in chains]


def check(done):
    """What is wrong."""
    wrong, reports = [], {}
    for way in WAYS:
        said = done[way, False]
        reports[way] = words(said.stderr)
        if not reports[way] or "begins" not in said.stdout:
            wrong.append(f"{way}: no report\n{said.stderr[-1500:]}")
        elif way != "followed" and not rested(said.stderr):
            wrong.append(f"{way}: operators did not rest\n{said.stderr[-1500:]}")
        elif reports[way] != reports["followed"]:
            wrong.append(f"{way}: other words\n" + "\n".join(reports["followed"]) + "\n---\n" + "\n".join(reports[way]))
    for way in WAYS:
        said = done[way, True]
        if said.returncode or words(said.stderr):
            wrong.append(f"{way}: the fixed twin ended with {said.returncode}\n{said.stderr[-1500:]}")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("csan")
    parser.add_argument("samples", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--timeout", type=int, default=300)
    parser.add_argument("--times", type=int, default=1500)
    parser.add_argument("--jobs", type=int, default=max(1, len(os.sched_getaffinity(0)) - 2))
    options = parser.parse_intermixed_args()
    failed = passed = 0
    paths = [
        path
        for path in sorted(options.samples.glob("*.py"))
        if not path.stem.endswith("_fixed") and (not options.names or any(n in path.stem for n in options.names))
    ]
    build = [options.csan, "run", f"--device={options.device}", sys.executable, "-c", "import torch"]
    subprocess.run(build, capture_output=True, timeout=options.timeout)  # the adapter: once, not by each of them
    with ThreadPoolExecutor(options.jobs) as pool:
        started = {path: start(options, pool, path) for path in paths}
        for path, chains in started.items():
            try:
                wrong = check({key: said for each in chains for key, said in each.result().items()})
            except subprocess.TimeoutExpired:
                wrong = [f"a process did not end in {options.timeout} s"]
            passed, failed = passed + (not wrong), failed + bool(wrong)
            print(f"{'not ok' if wrong else 'ok'} {path.stem}", *wrong, sep="\n  ", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(bool(failed))


main()
