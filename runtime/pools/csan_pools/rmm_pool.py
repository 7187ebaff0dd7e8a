"""RMM's pools, by an adaptor in front of each resource that becomes a device's.

RMM offers no hook of its pools, but resources that call Python: CallbackMemoryResource. csan's adaptor
is one. Resources that only pass CUDA's allocations on stay as they are: csan sees those calls. A pool
that is handed to one buffer alone (DeviceBuffer(mr=...)), or set by C++, is not followed.
"""

import functools

import rmm
import rmm.mr

_POOLS = tuple(
    getattr(rmm.mr, name)
    for name in (
        "PoolMemoryResource",
        "ArenaMemoryResource",
        "FixedSizeMemoryResource",
        "BinningMemoryResource",
        "CallbackMemoryResource",
    )
    if hasattr(rmm.mr, name)
)


class _Adaptor(rmm.mr.CallbackMemoryResource):
    """Passes all on to `upstream`, and looks like it."""

    def __init__(self, upstream, blocks):
        def allocate(size, stream):
            address = upstream.allocate(size, stream)
            blocks.given_out(address, size)
            return address

        def deallocate(address, size, stream):
            blocks.taken_back(address)
            upstream.deallocate(address, size, stream)

        super().__init__(allocate, deallocate)
        self._csan_upstream = upstream

    @property
    def __class__(self):
        return type(self._csan_upstream)

    def __getattr__(self, name):
        if name == "_csan_upstream":
            raise AttributeError(name)
        return getattr(self._csan_upstream, name)


def _gives_out_again(resource):
    """Whether the resource, or one that it asks, keeps memory and gives it out again."""
    while resource is not None:
        if type(resource) is _Adaptor:
            return False  # followed below
        if isinstance(resource, _POOLS):
            return True
        resource = getattr(resource, "upstream_mr", None)
    return False


def _adapt(resource, blocks):
    return _Adaptor(resource, blocks) if _gives_out_again(resource) else resource


def _replace(name, function, modules):
    for module in modules:
        if hasattr(module, name):
            setattr(module, name, function)


def follow(blocks):
    set_resource, reinitialize = rmm.mr.set_per_device_resource, rmm.reinitialize
    set_current = rmm.mr.set_current_device_resource

    @functools.wraps(set_resource)
    def set_per_device_resource(device, mr):
        set_resource(device, _adapt(mr, blocks))

    @functools.wraps(set_current)
    def set_current_device_resource(mr):
        set_current(_adapt(mr, blocks))

    @functools.wraps(reinitialize)
    def reinitialize_and_follow(*args, **kwargs):
        reinitialize(*args, **kwargs)
        devices = kwargs.get("devices", args[4] if len(args) > 4 else 0)
        for device in [devices] if isinstance(devices, int) else devices:
            set_per_device_resource(device, rmm.mr.get_per_device_resource(device))

    modules = (rmm.mr, rmm.pylibrmm.memory_resource, rmm)
    _replace("set_per_device_resource", set_per_device_resource, modules)
    _replace("set_current_device_resource", set_current_device_resource, modules)
    _replace("reinitialize", reinitialize_and_follow, (rmm, rmm.rmm))
