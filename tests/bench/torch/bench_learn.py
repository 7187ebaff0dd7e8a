"""What learning costs on a GPU (CSAN_OPTIONS=access=learn): each model's step plain, with csan and
nothing learned (access=ptx), learned in a first process, and in a second one that starts when the
first has ended and saved, in a third, which as a rule finds the program known and leaves the driver's
tools interface alone, or in a second one with that option (learn_memory_mb=0); with every launch traced
(access=exact) and under compute-sanitizer's memcheck, where there is one; timed in turns.
Usage: bench_learn.py CSAN [--models=a,b] [--modes=a,b] [--seconds=N] [--rounds=N] [--steps=N] [--cores=N]"""

import shutil

import turns
from turns import Mode

LEARNING, SLOW = 300, 6  # first steps


def modes(csan, directory):
    run = [csan, "run", "--device=gpu"]

    def options(access, more=""):
        return {"CSAN_OPTIONS": f"access={access}:operators=0{more}", "CSAN_CACHE": f"{directory}/{access}"}

    table = {
        "plain": Mode(first_steps=LEARNING),
        "not learned": Mode(run, options("ptx"), LEARNING),
        "learn": Mode(run, options("learn"), LEARNING),
        "learn again": Mode(run, options("learn"), LEARNING, after="learn"),
        "known": Mode(run, options("learn"), LEARNING, after="learn again"),
        "kept": Mode(run, options("learn", ":learn_memory_mb=0"), LEARNING, after="learn"),
        "exact": Mode(run, options("exact"), SLOW),
    }
    if shutil.which("compute-sanitizer"):
        table["memcheck"] = Mode(["compute-sanitizer", "--tool", "memcheck"], {}, SLOW)
    return table


turns.bench(__doc__, modes, "mlp,resnet18,transformer,triton,gemm,fft,flash", 70)
