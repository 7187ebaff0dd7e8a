"""Where csan's part of a PyTorch program's step goes: the step with one part of csan after the other,
and with one left out, timed in turns; first a hook that does nothing (tests/bench/null_hook.c).
Usage: bench_parts.py CSAN [--models=a,b] [--modes=a,b] [--seconds=N] [--rounds=N] [--steps=N] [--cores=N]"""

from pathlib import Path

import turns
from turns import Mode


def modes(csan, directory):
    library = Path(csan).resolve().parent.parent / "lib"
    hooks, threads = library / "libcsan.so.0", library / "libcsan_threads.so.0"
    adapter = {"PYTHONPATH": str(library / "csan" / "python")}

    def preloaded(*libraries, on=1, **more):
        """As `csan run` does it, in part."""
        preload = ":".join(map(str, libraries))
        return Mode(["env", f"LD_PRELOAD={preload}", f"CSAN={on}", "CSAN_DEVICE=gpu"], more)

    def run(options):
        return Mode([csan, "run", "--device=gpu"], {"CSAN_OPTIONS": options})

    return {
        "plain": Mode(),
        **turns.null_hooks(csan),
        "csan off": preloaded(hooks, threads, on=0),
        "hooks": preloaded(hooks),
        "hooks, blocks": preloaded(hooks, **adapter, CSAN_OPTIONS="operators=0"),
        "hooks, blocks, threads": run("operators=0"),
        "the same, no stacks": run("operators=0:stacks=0"),
        "the same, recorded": run(f"operators=0:check=0:record={directory}/steps"),
        "operators, too": run(""),
    }


turns.bench(__doc__, modes, "mlp,resnet18", 60)
