"""Declares the blocks of PyTorch's caching allocator to csan as a pool's. PyTorch's GPU trace reports
each block's address, but neither its size nor its stream. The stream is the thread's current one. The
size is the growth of the allocator's counters since the last call. If another thread's block came
between, a slow look-up among all blocks finds the size."""

import threading

import torch
from torch.cuda import _gpu_trace as gpu_trace


class _Sizes:
    """Of one device's blocks."""

    def __init__(self, device, count):
        self._device = device
        self._missing = -count  # of the blocks that the counters know: those not declared here
        self._lock = threading.RLock()
        self._bytes = None  # of all blocks; None: not known when none was missing

    def of_new(self, block):
        with self._lock:
            return self._difference() or self._look_up(block)

    def _difference(self):
        """Of the counters, if it is one block that makes it; else 0."""
        counters = torch.cuda.memory_stats_as_nested_dict(self._device)
        count = counters["allocation"]["all"]["allocated"]
        total = counters["allocated_bytes"]["all"]["allocated"]
        before = self._bytes
        self._missing -= 1
        settled = count + self._missing == 0
        self._bytes = total if settled else None
        return total - before if settled and before is not None else 0

    @staticmethod
    def _look_up(address):
        for segment in torch.cuda.memory_snapshot():
            if segment["address"] <= address < segment["address"] + segment["total_size"]:
                for block in segment["blocks"]:
                    if block["address"] == address:
                        return block["size"]
        return 0


class Allocator:
    """Follows the caching allocator from here on."""

    def __init__(self, api):
        self._api = api
        self._sizes = {}
        self._streams = {}  # of the blocks that live
        self._earlier = {}
        if torch.cuda.is_initialized():
            for device in range(torch.cuda.device_count()):
                counters = torch.cuda.memory_stats_as_nested_dict(device)
                self._earlier[device] = counters["allocation"]["all"]["allocated"] if counters else 0
        torch._C._activate_gpu_trace()
        gpu_trace.register_callback_for_memory_allocation(self._allocated)
        gpu_trace.register_callback_for_memory_deallocation(self._freed)

    def _allocated(self, block):
        if torch.cuda.get_allocator_backend() != "native":
            return  # the driver's own functions report it
        device = torch.cuda.current_device()
        if device not in self._sizes:
            self._sizes[device] = _Sizes(device, self._earlier.get(device, 0))
        size = self._sizes[device].of_new(block)
        stream = torch.cuda.current_stream(device).cuda_stream
        if size:
            self._streams[block] = stream
            self._api.pool_alloc(block, size, stream)

    def _freed(self, block):
        stream = self._streams.pop(block, None)
        if stream is not None:
            self._api.pool_free(block, stream)
