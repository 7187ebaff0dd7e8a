"""The PTX of kernels that Triton and torch.compile made, for csan's hooks.

Triton loads machine code. As a rule that keeps its PTX, since Triton asks ptxas for line
information, and libcsan reads it there: then nothing here does anything. With
TRITON_DISABLE_LINE_INFO=1 it does not; the PTX is then taken from Triton's cache, where it lies
beside the machine code in a folder that is named by a hash of what both were compiled from, and is
handed to csan_kernel_ptx (csan.h) when a kernel has been loaded. Launches cost nothing.
"""

import os
import sys
from pathlib import Path

from . import api

_SECTION = b".nv_debug_ptx_txt"  # of machine code that keeps its PTX


def _kernel_ptx():
    """csan_kernel_ptx as a function; None when libcsan is not here, off, or older."""
    table = api.find()
    return table.kernel_ptx if table and table.has("kernel_ptx") else None


def _give(function, machine_code):
    """Hands on what lies beside the file of machine code that `function` was loaded from."""
    if not isinstance(function, int) or not function or not machine_code:
        return
    try:
        machine_code = Path(machine_code)
        if _SECTION in machine_code.read_bytes():
            return
        ptx = machine_code.with_suffix(".ptx").read_bytes()
    except OSError:
        return  # the kernel stays unknown, as csan's summary says
    give = _kernel_ptx()
    if give:
        give(function, ptx, len(ptx))


def _on_load(module, function, name, metadata_group, hash):
    """Triton's kernel_load_end_hook; the group's files are those of the kernel's cache entry."""
    code = [path for file, path in metadata_group.items() if file.endswith(".cubin")]
    if code:
        _give(function, code[0])


def _quietly(message):
    if "verbosity=" in os.environ.get("CSAN_OPTIONS", "").replace("verbosity=0", ""):
        print(f"csan: {message}", file=sys.stderr)


def _follow_triton():
    """Adds the hook to those that are there (a chain since Triton 3.5, one function before)."""
    runtime = getattr(getattr(sys.modules["triton"], "knobs", None), "runtime", None)
    if not hasattr(runtime, "kernel_load_end_hook"):
        _quietly("this Triton does not announce the kernels that it loads: those without line "
                 "information stay unknown")
        return
    before = runtime.kernel_load_end_hook
    if hasattr(before, "add"):
        before.add(_on_load)
        return

    def both(*arguments, **named):
        before(*arguments, **named)
        _on_load(*arguments, **named)

    runtime.kernel_load_end_hook = both if before else _on_load


def _follow_launcher(module, name):
    """torch.compile loads by itself the files of Triton's cache: kernels that other processes may
    have compiled."""
    kernel = getattr(sys.modules[module], name, None)
    load = getattr(kernel, "load_kernel", None)
    if not load:
        _quietly(f"{module} has no {name}.load_kernel: torch.compile's kernels without line "
                 "information stay unknown")
        return

    def load_kernel(self, *arguments, **named):
        path = getattr(self, "cubin_path", None)
        fresh = getattr(self, "function", None) is None
        result = load(self, *arguments, **named)
        if fresh:
            _give(getattr(self, "function", None), path)
        return result

    kernel.load_kernel = load_kernel


def install():
    """Follow Triton and torch.compile, now or once they are imported."""
    from .startup import when_imported

    when_imported("triton", _follow_triton)
    for module, name in (
        ("torch._inductor.runtime.static_triton_launcher", "StaticallyLaunchedTritonKernel"),
        ("torch._inductor.runtime.static_cuda_launcher", "StaticallyLaunchedCudaKernel"),
    ):
        when_imported(module, lambda module=module, name=name: _follow_launcher(module, name))
