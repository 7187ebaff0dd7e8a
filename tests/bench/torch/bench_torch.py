"""What csan costs a PyTorch program: each model's training step plain, with csan, with csan's hooks alone,
with PyTorch's own sanitizer and with CUDA_LAUNCH_BLOCKING=1, timed in turns.
Usage: bench_torch.py CSAN [--models=a,b] [--modes=a,b] [--seconds=N] [--rounds=N] [--steps=N] [--cores=N]"""

import turns
from turns import Mode


def modes(csan, _):
    run = [csan, "run", "--device=gpu"]
    return {
        "plain": Mode(),
        "csan": Mode(run),
        "hooks only": Mode(run, {"CSAN_OPTIONS": "operators=0:host=off"}),
        "TORCH_CUDA_SANITIZER": Mode([], {"TORCH_CUDA_SANITIZER": "1"}),
        "CUDA_LAUNCH_BLOCKING": Mode([], {"CUDA_LAUNCH_BLOCKING": "1"}),
    }


turns.bench(__doc__, modes, "mlp,resnet18,transformer", 40)
