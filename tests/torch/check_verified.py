"""Operators against their summaries (option verify_operators): programs of PyTorch that run for so many steps, side by
side. In each, launches were compared, and no summary was narrower than its operator; and csan finds no race.

    models     the models of tests/bench/torch
    errors     the programs of tests/gpu/torch_errors.py, which are right for so many steps before they fail
    silent     tests/gpu/torch_silent.py, as often as it is written
    ranks      DDP, FSDP and the others of tests/gpu/torch_silent_distributed.py, on two GPUs if there are two

Usage: check_verified.py CSAN [--device=gpu|embedded] [--steps=N] [--timeout=SECONDS] [--jobs=N] [NAME...]

NAME: of such a group, or of a program: mlp, errors:gather, ranks:ddp. By default models, errors, silent and ranks."""

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
MODELS = "llama gpt2 transformer resnet18 flash gru mlp gemm mlp_loader pointwise tokens".split()  # the slowest first
ERRORS = "scatter embedding cross_entropy backward gather advanced_index ignored_label".split()
RANKS = "pipeline fsdp zero tensor_parallel ddp".split()
NEEDS = {"gpt2": "transformers", "llama": "transformers"}
COMPARED = re.compile(r"verify_operators: (\d+) launches compared, (\d+) narrower")


@dataclass
class Program:
    group: str
    name: str
    command: list
    environment: dict = field(default_factory=dict)
    fails: bool = False  # it ends with an exception of PyTorch's
    forks: int = 1  # processes that work on a GPU


def programs(steps, gpus):
    for name in MODELS:
        if name not in NEEDS or importlib.util.find_spec(NEEDS[name]):
            yield Program("models", name, [TESTS / "torch" / "programs" / "steps.py", name, steps])
    ranks = 2 if gpus > 1 else 1
    for name in RANKS:
        if ranks > 1 or name != "pipeline":  # whose stages are on two
            command = [TESTS / "gpu" / "torch_silent_distributed.py", ranks, name]
            yield Program("ranks", f"ranks:{name}", command, {"STEPS": str(steps)}, forks=ranks)
    yield Program("silent", "silent", [TESTS / "gpu" / "torch_silent.py"])
    for name in ERRORS:
        yield Program("errors", f"errors:{name}", [TESTS / "gpu" / "torch_errors.py", name, steps], fails=True)


def run(options, program):
    command = [options.csan, "run", f"--device={options.device}", sys.executable, *map(str, program.command)]
    said = {"CSAN_OPTIONS": "verbosity=2:halt_on_error=0:verify_operators=1", **program.environment}
    begin = time.monotonic()
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=options.timeout, env={**os.environ, **said}
        )
        code, text = done.returncode, done.stderr
    except subprocess.TimeoutExpired as expired:
        code, text = None, (expired.stderr or b"").decode(errors="replace")
    return code, text, time.monotonic() - begin


def judge(program, device, code, text):
    """What is wrong, and how many launches were compared."""
    counts = [tuple(map(int, found)) for found in COMPARED.findall(text)]
    compared, narrower = (sum(column) for column in zip(*counts)) if counts else (0, 0)
    wrong = []
    if code is None:
        wrong.append("it did not end in time")
    elif bool(code) != (program.fails and device == "gpu"):  # on the embedded device no kernel of theirs runs
        wrong.append(f"it ended with {code}")
    if narrower:
        wrong.append(f"{narrower} summaries are narrower than their operators")
    if len(counts) < program.forks or not compared:
        wrong.append(f"{len(counts)} processes compared {compared} launches")
    if "CSAN detected" in text or re.search(r"[1-9]\d* races?,|[1-9]\d* possible races?", text):
        wrong.append("csan found a race")
    return wrong, compared


def chosen(options):
    gpus = subprocess.run(
        [sys.executable, "-c", "import torch; print(torch.cuda.device_count())"], capture_output=True, text=True
    ).stdout.strip()
    every = list(programs(options.steps, int(gpus or 0)))
    names = options.names or ["models", "errors", "silent", "ranks"]
    for name in names:
        if not any(name in (program.group, program.name) for program in every):
            sys.exit(f"check_verified: there is no program '{name}' here")
    return [program for program in every if program.group in names or program.name in names]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csan")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--timeout", type=int, default=520)
    parser.add_argument("--jobs", type=int, default=max(1, len(os.sched_getaffinity(0)) - 2))
    options = parser.parse_intermixed_args()
    build = [options.csan, "run", f"--device={options.device}", sys.executable, "-c", "import torch"]
    subprocess.run(build, capture_output=True, timeout=options.timeout)  # the adapter: once, not by each of them
    passed = failed = total = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        started = [(program, pool.submit(run, options, program)) for program in chosen(options)]
        for program, result in started:
            code, text, seconds = result.result()
            wrong, compared = judge(program, options.device, code, text)
            passed, failed, total = passed + (not wrong), failed + bool(wrong), total + compared
            print(
                f"{'not ok' if wrong else 'ok'} verify {program.name}: {compared} launches compared, "
                f"{options.steps} steps, {seconds:.0f} s{': ' if wrong else ''}{', '.join(wrong)}"
            )
            if wrong:
                print(*[f"  {line[:300]}" for line in text.splitlines()[-12:]], sep="\n")
            sys.stdout.flush()
    print(f"{total} launches compared with their operators; {passed} passed, {failed} failed")
    sys.exit(bool(failed))


main()
