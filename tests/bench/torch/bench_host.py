"""What it costs to see the host's own loads and stores: training steps with the batches of a DataLoader (pinned memory,
copies that do not wait) plain, and with csan and host=off, guard and content, timed in turns.
Usage: bench_host.py CSAN [--models=a,b] [--modes=a,b] [--seconds=N] [--rounds=N] [--steps=N] [--cores=N]"""

import turns
from turns import Mode


def modes(csan, _):
    run = [csan, "run", "--device=gpu"]
    return {
        "plain": Mode(),
        **{f"csan host={how}": Mode(run, {"CSAN_OPTIONS": f"host={how}"}) for how in ("off", "guard", "content")},
    }


turns.bench(__doc__, modes, "mlp_loader,resnet18_loader", 40)
