"""What watching for kernels that fail costs a training step: each model's step with errors=off, which the
others are compared with, with errors=auto, and without csan; timed in turns. More options of csan's are
taken from the environment's CSAN_OPTIONS.
Usage: bench_errors.py CSAN [--models=a,b] [--modes=a,b] [--seconds=N] [--rounds=N] [--steps=N] [--cores=N]"""

import os

import turns
from turns import Mode


def modes(csan, _):
    def errors(value):
        given = os.environ.get("CSAN_OPTIONS", "access=ptx")
        return Mode([csan, "run", "--device=gpu"], {"CSAN_OPTIONS": f"{given}:errors={value}"})

    return {"errors=off": errors("off"), "errors=auto": errors("auto"), "plain": Mode()}


turns.bench(__doc__, modes, "mlp,resnet18,transformer", 40, baseline="errors=off")
