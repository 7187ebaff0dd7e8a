"""Runs a sample's fixed twin so often that csan knows its launches, then the sample itself so often that
csan may wait for a race to come again: what csan says must not depend on whether operators are followed.

Usage: repeated.py SAMPLE.py [--times=N] [--racy=N] [--fixed]

Prints "begins" when the sample begins."""

import argparse
import contextlib
import io
from pathlib import Path

import torch

parser = argparse.ArgumentParser()
parser.add_argument("sample", type=Path)
parser.add_argument("--times", type=int, default=1500)
parser.add_argument("--racy", type=int, default=20)
parser.add_argument("--fixed", action="store_true")
options = parser.parse_args()

# Which of several threads would first touch what is not there yet is chance.
torch.set_num_threads(1)
fixed = options.sample.with_name(options.sample.stem + "_fixed.py")
code = {path: compile(path.read_text(), str(path), "exec") for path in (options.sample, fixed)}


def run(path, times):
    with contextlib.redirect_stdout(io.StringIO()):
        for _ in range(times):
            exec(code[path], {"__name__": "__main__"})
            torch.cuda.synchronize()


run(fixed, options.times)
print("begins", flush=True)
run(fixed if options.fixed else options.sample, options.racy)
print("done", flush=True)
