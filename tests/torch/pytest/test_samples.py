"""The PyTorch samples as tests: pytest --csan fails the racy ones and passes their twins. CSAN_SAMPLES names the folder."""

import os
import runpy
from pathlib import Path

import pytest

samples = sorted(Path(os.environ["CSAN_SAMPLES"]).glob("*.py"))


@pytest.mark.parametrize("path", [p for p in samples if "allreduce" not in p.name and "triton" not in p.name],
                         ids=lambda path: path.stem)
def test_sample(path):
    import torch

    runpy.run_path(str(path), run_name="__main__")
    torch.cuda.synchronize()
