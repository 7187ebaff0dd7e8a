"""What learning costs on a GPU (CSAN_OPTIONS=access=learn): each model's step plain, learned in a first
and in a second process, with every launch traced (access=exact) and under compute-sanitizer's memcheck,
each in a process of its own. The warm-up is what the first steps took more than the median of the last.
Usage: bench_learn.py CSAN [--steps=N] [--models=a,b]"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def modes(csan, cache, steps):
    """Name: command before python, environment, steps."""
    run = [csan, "run", "--device=gpu"]
    learn = {"CSAN_OPTIONS": "access=learn:operators=0", "CSAN_CACHE": cache}
    exact = {"CSAN_OPTIONS": "access=exact:operators=0", "CSAN_CACHE": cache}
    table = {
        "plain": ([], {}, steps),
        "learn": (run, learn, steps),
        "learn again": (run, learn, steps),
        "exact": (run, exact, 6),
    }
    if shutil.which("compute-sanitizer"):
        table["memcheck"] = (["compute-sanitizer", "--tool", "memcheck"], {}, 6)
    return table


def measure(model, before, environment, steps):
    command = [*before, sys.executable, str(HERE / "warm_up.py"), model, str(steps)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    times = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("times ")]
    if done.returncode or not times:
        print(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-3000:]}")
        return None
    return *map(float, times[-1]), [line for line in done.stderr.splitlines() if line.startswith("csan: ")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("csan")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--models", default="mlp,resnet18,transformer")
    options = parser.parse_args()
    for model in options.models.split(","):
        plain = None
        with tempfile.TemporaryDirectory() as cache:
            for mode, how in modes(options.csan, cache, options.steps).items():
                measured = measure(model, *how)
                if not measured:
                    continue
                step, warm, notes = measured
                plain = plain or step
                print(f"{model:12} {mode:12} {step:9.3f} ms  {step / plain:7.3f}x  warm-up {warm:6.2f} s")
                for note in notes:
                    print(f"{'':26}{note}", flush=True)


main()
