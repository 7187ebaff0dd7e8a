"""What it costs to see the host's own loads and stores: training steps with the batches of a DataLoader (pinned memory,
copies that do not wait) plain, and with csan and host=off, guard and content, and with operators from summaries, timed in
turns.
Usage: bench_host.py CSAN [--models=a,b] [--modes=a,b] [--seconds=N] [--rounds=N] [--steps=N] [--cores=N]"""

import turns
from turns import Mode

FIRST_STEPS, FIRST_SECONDS = 200, 8


def modes(csan, _):
    run = [csan, "run", "--device=gpu"]
    return {
        "plain": Mode(),
        **{
            f"csan {options}": Mode(run, {"CSAN_OPTIONS": options}, FIRST_STEPS, FIRST_SECONDS)
            for options in (
                "host=off",
                "host=guard",
                "host=content",
                "host=off:operator_summaries=1",
                "host=guard:operator_summaries=1",
            )
        },
    }


turns.bench(__doc__, modes, "mlp_loader,resnet18_loader", 40)
