"""What it costs to see the host's own loads and stores: training steps with the batches of a DataLoader (pinned memory,
copies that do not wait) plain, with csan's hooks alone, without and with the guard, and with csan and host=off, guard and
content, timed in turns. The guard's own cost is between the two with hooks alone.
Usage: bench_host.py CSAN [--models=a,b] [--modes=a,b] [--seconds=N] [--rounds=N] [--steps=N] [--cores=N]"""

import turns
from turns import Mode

FIRST_STEPS, FIRST_SECONDS = 200, 8


def modes(csan, _):
    run = [csan, "run", "--device=gpu"]
    return {
        "plain": Mode(),
        "hooks only": Mode(run, {"CSAN_OPTIONS": "operators=0:host=off"}),
        "hooks only, host=guard": Mode(run, {"CSAN_OPTIONS": "operators=0:host=guard"}),
        **{
            f"csan {options}": Mode(run, {"CSAN_OPTIONS": options}, FIRST_STEPS, FIRST_SECONDS)
            for options in (
                "host=off",
                "host=guard",
                "host=content",
            )
        },
    }


turns.bench(__doc__, modes, "mlp_loader,resnet18_loader", 40)
