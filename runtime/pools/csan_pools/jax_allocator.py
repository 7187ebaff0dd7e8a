"""JAX's device memory.

XLA's pool (BFC) offers no hook: it takes three quarters of the GPU's memory in one allocation, and
gives blocks of it out without a call that anybody else sees. But JAX can have its memory from CUDA's
own stream-ordered pool, of which csan sees each block. So csan chooses that one, where neither the
program nor its user has chosen by XLA_PYTHON_CLIENT_ALLOCATOR, and where each GPU has such pools.
"""

import ctypes
import functools
import os

from jaxlib import xla_client

_MEMORY_POOLS_SUPPORTED = 115  # CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED


def _has_memory_pools():
    """Of all GPUs that the process may use. JAX is about to use them: the driver may start now."""
    cuda = ctypes.CDLL("libcuda.so.1")
    count, device, supported = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    if cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)):
        return False
    for ordinal in range(count.value):
        if (
            cuda.cuDeviceGet(ctypes.byref(device), ordinal)
            or cuda.cuDeviceGetAttribute(ctypes.byref(supported), _MEMORY_POOLS_SUPPORTED, device)
            or not supported.value
        ):
            return False
    return count.value > 0


def _may_choose():
    try:
        return not os.environ.get("XLA_PYTHON_CLIENT_ALLOCATOR") and _has_memory_pools()
    except OSError:  # no driver: JAX will say so
        return False


def follow(_blocks):
    plugin_options = xla_client.generate_pjrt_gpu_plugin_options

    @functools.wraps(plugin_options)
    def with_cuda_pool(*args, **kwargs):
        options = plugin_options(*args, **kwargs)
        if options.get("allocator") == "default" and _may_choose():
            options["allocator"] = "cuda_async"
        return options

    xla_client.generate_pjrt_gpu_plugin_options = with_cuda_pool
