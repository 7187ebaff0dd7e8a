"""What csan costs a PyTorch program: in a first process, whose first steps end when operators rest, and in one
of a program that was summarized before. Beside them: plain, a hook that does nothing (tests/bench/null_hook.c),
csan's hooks alone, operators that are followed all the time, PyTorch's own sanitizer and CUDA_LAUNCH_BLOCKING=1,
timed in turns. It forgets the summaries of earlier programs.
At the end: what a process of a known program takes from its beginning to its first step's end, beside plain.
Usage: bench_summaries.py CSAN [--models=a,b] [--modes=a,b] [--seconds=N] [--starts=N] [--rounds=N] [--steps=N]
[--cores=N]"""

import os
from pathlib import Path

import turns
from turns import Mode

FIRST_STEPS, FIRST_SECONDS = 400, 12


def forget():
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    cache = Path(os.environ.get("CSAN_CACHE") or Path(base) / "csan")
    for path in cache.glob("learned/operators-*"):
        path.unlink()


def modes(csan, _):
    run = [csan, "run", "--device=gpu"]
    options = {"CSAN_OPTIONS": "verbosity=1"}
    forget()
    return {
        "plain": Mode(),
        **turns.null_hooks(csan),
        "hooks only": Mode(run, {"CSAN_OPTIONS": "operators=0:host=off"}),
        "operators": Mode(run, {"CSAN_OPTIONS": "operator_summaries=0"}),
        "summaries": Mode(run, options, FIRST_STEPS, FIRST_SECONDS, settles="csan: operators rest after"),
        "TORCH_CUDA_SANITIZER": Mode([], {"TORCH_CUDA_SANITIZER": "1"}),
        "CUDA_LAUNCH_BLOCKING": Mode([], {"CUDA_LAUNCH_BLOCKING": "1"}),
        "summarized": Mode(run, options, after="summaries"),
    }


turns.bench(__doc__, modes, "mlp,resnet18,transformer,gpt2,llama", 75, starts=3)
