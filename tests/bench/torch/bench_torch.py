"""What csan costs a PyTorch program: each model's step plain, with csan, with csan's hooks alone, with
PyTorch's own sanitizer, with CUDA_LAUNCH_BLOCKING=1; each in processes of its own, in turns, and the
ratio to plain. Usage: bench_torch.py CSAN [--rounds=N] [--steps=N] [--modes=a,b] [--models=a,b]"""

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def modes(csan):
    """Name: command before python, environment."""
    run = [csan, "run", "--device=gpu"]
    return {
        "plain": ([], {}),
        "csan": (run, {}),
        "hooks only": (run, {"CSAN_OPTIONS": "operators=0"}),
        "TORCH_CUDA_SANITIZER": ([], {"TORCH_CUDA_SANITIZER": "1"}),
        "CUDA_LAUNCH_BLOCKING": ([], {"CUDA_LAUNCH_BLOCKING": "1"}),
    }


def measure(model, steps, before, environment):
    command = [*before, sys.executable, str(HERE / "step.py"), model, str(steps)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode:
        print(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-3000:]}")
        return None, ""
    summary = [line for line in done.stderr.splitlines() if line.startswith("csan: ")]
    return float(done.stdout.split()[-1]), summary[-1] if summary else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("csan")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--models", default="mlp,resnet18,transformer")
    parser.add_argument("--modes", default="")
    options = parser.parse_args()
    table = modes(options.csan)
    chosen = options.modes.split(",") if options.modes else list(table)
    for model in options.models.split(","):
        times = {mode: [] for mode in chosen}
        notes = {}
        for _ in range(options.rounds):
            for mode in chosen:
                time, notes[mode] = measure(model, options.steps, *table[mode])
                times[mode] += [time] if time else []
        for mode in chosen:
            if not times[mode]:
                print(f"{model:12} {mode:22} failed")
                continue
            best = statistics.median(times[mode])
            ratio = best / statistics.median(times["plain"]) if times.get("plain") else 0
            print(f"{model:12} {mode:22} {best:9.3f} ms  {ratio:6.3f}x  {notes[mode]}", flush=True)


main()
