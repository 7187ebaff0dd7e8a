"""What csan adds to the start and the end of a PyTorch process, by phases: the interpreter, import torch, the
context, the model's tensors, two steps, the end. Processes run one after the other, in turns; printed are
medians of wall and processor time in milliseconds, and what each mode takes beyond the first one.

  plain       without csan; as the next one not on the embedded device
  off         csan is preloaded and off
  hooks       hooks only
  operators   operators are followed all the time
  known       of a program whose operators were summarized before

Usage: bench_start.py CSAN [--models=a,b] [--modes=a,b] [--rounds=N] [--steps=N] [--device=D] [--preload=FILE]"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
OPTIONS = {
    "plain": None,
    "off": None,
    "hooks": {"CSAN_OPTIONS": "operators=0:host=off"},
    "operators": {"CSAN_OPTIONS": "operator_summaries=0"},
    "known": {"CSAN_OPTIONS": "verbosity=1"},
}


class Bench:
    def __init__(self, options, scratch):
        self.options, self.scratch = options, Path(scratch)
        self.library = Path(options.csan).resolve().parent.parent / "lib"

    def command(self, mode):
        preload = ":".join(str(self.library / name) for name in ("libcsan.so.0", "libcsan_threads.so.0"))
        run = {"plain": [], "off": ["env", f"LD_PRELOAD={preload}", "CSAN=0"]}
        return [*run.get(mode, [self.options.csan, "run", f"--device={self.options.device}"]), sys.executable]

    def environment(self, mode, steps=0):
        own = {"START_MARKS": str(self.scratch / "marks"), "START_STEPS": str(steps)}
        if self.options.preload:
            own["LD_PRELOAD"] = self.options.preload
        return {**os.environ, **own, **(OPTIONS[mode] or {})}

    def learn(self, model):
        """Steps until operators rest; the summaries belong to the program, which is start.py."""
        command = [*self.command("known"), str(HERE / "start.py"), model]
        environment = self.environment("known", self.options.steps)
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if "operators rest" not in done.stderr and "operators rested" not in done.stderr:
            print(f"  operators did not rest in {self.options.steps} steps: {done.stderr[-600:]}")

    def phases(self, mode, model):
        """By name: milliseconds on the wall and of processors."""
        before, used = time.monotonic(), os.times()
        done = subprocess.run(
            [*self.command(mode), str(HERE / "start.py"), model],
            env=self.environment(mode),
            capture_output=True,
            text=True,
        )
        whole, now = time.monotonic() - before, os.times()
        processors = now.children_user + now.children_system - used.children_user - used.children_system
        if done.returncode:
            raise SystemExit(f"{mode} ended with {done.returncode}: {done.stderr[-2000:]}")
        if self.options.preload:
            print(mode, done.stderr, file=sys.stderr)
        found, last = {}, (0, 0)
        for phase, wall, cpu in json.loads((self.scratch / "marks").read_text()):
            found[phase] = wall - last[0], cpu - last[1]
            last = wall, cpu
        found["before, end"] = whole - last[0], processors - last[1]
        found["to the first step's end"] = tuple(
            sum(found[phase][i] for phase in found if phase not in ("second step", "before, end")) for i in (0, 1)
        )
        found["all"] = whole, processors
        return {phase: (1e3 * wall, 1e3 * cpu) for phase, (wall, cpu) in found.items()}

    def model(self, model, modes):
        if "known" in modes:
            self.learn(model)
        taken = {mode: [] for mode in modes}
        for _ in range(self.options.rounds):
            for mode in modes:
                taken[mode].append(self.phases(mode, model))
        print(f"{model}, {self.options.rounds} rounds, ms on the wall and of processors")
        print(f"  {'':24}" + "".join(f"{mode:>16}" + ("" if mode == modes[0] else f"{'beyond':>14}") for mode in modes))
        for phase in taken[modes[0]][0]:
            print(f"  {phase:24}" + "".join(self.cells(taken, mode, modes[0], phase) for mode in modes))
        sys.stdout.flush()

    @staticmethod
    def cells(taken, mode, first, phase):
        def median(of):
            return [statistics.median(of(i, kind) for i in range(len(taken[mode]))) for kind in (0, 1)]

        wall, cpu = median(lambda i, kind: taken[mode][i][phase][kind])
        text = f"{wall:9.0f}{cpu:7.0f}"[-16:]
        if mode == first:
            return text
        wall, cpu = median(lambda i, kind: taken[mode][i][phase][kind] - taken[first][i][phase][kind])
        return text + f"{wall:+8.0f}{cpu:+6.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csan")
    parser.add_argument("--models", default="mlp,resnet18,llama")
    parser.add_argument("--modes", default="")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=200, help="in which a program is summarized (200)")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--preload", default="", help="a library more, for a profile of the process")
    options = parser.parse_args()
    known = [mode for mode in OPTIONS if OPTIONS[mode] or options.device == "gpu"]
    modes = options.modes.split(",") if options.modes else known
    with tempfile.TemporaryDirectory() as scratch:
        for model in options.models.split(","):
            Bench(options, scratch).model(model, modes)


main()
