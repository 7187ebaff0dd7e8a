"""Two kernels on two streams write to one buffer, by the driver API, and nothing orders them; `race.py
ordered`: the second one waits for the first. It needs Python alone."""

import ctypes
import sys

PTX = b"""
.version 7.0
.target sm_75
.address_size 64
.visible .entry fill(.param .u64 out, .param .u32 value)
{
    .reg .b64 %rd<4>;
    .reg .b32 %r<6>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [value];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    mul.wide.u32 %rd2, %r5, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}
"""

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    error = getattr(cuda, name)(*arguments)
    if error:
        sys.exit(f"{name} failed with error {error}")


def made(name, *arguments):
    handle = ctypes.c_void_p()
    call(name, ctypes.byref(handle), *arguments)
    return handle


def fill(function, stream, buffer, value):
    out, value = ctypes.c_void_p(buffer.value), ctypes.c_uint(value)
    parameters = (ctypes.c_void_p * 2)(*(ctypes.cast(ctypes.byref(p), ctypes.c_void_p) for p in (out, value)))
    call("cuLaunchKernel", function, 4, 1, 1, 256, 1, 1, 0, stream, parameters, None)


def run(ordered):
    """The two kernels; returns the values that are left in the buffer."""
    call("cuInit", 0)
    device = ctypes.c_int()
    call("cuDeviceGet", ctypes.byref(device), 0)
    context = made("cuDevicePrimaryCtxRetain", device)
    call("cuCtxSetCurrent", context)
    module = made("cuModuleLoadData", ctypes.c_char_p(PTX))
    function = made("cuModuleGetFunction", module, ctypes.c_char_p(b"fill"))
    first, second = made("cuStreamCreate", 1), made("cuStreamCreate", 1)
    event = made("cuEventCreate", 2)
    buffer = made("cuMemAlloc_v2", ctypes.c_size_t(4096))
    fill(function, first, buffer, 1)
    if ordered:
        call("cuEventRecord", event, first)
        call("cuStreamWaitEvent", second, event, 0)
    fill(function, second, buffer, 2)
    call("cuCtxSynchronize")
    host = (ctypes.c_uint * 1024)()
    call("cuMemcpyDtoH_v2", host, buffer, ctypes.c_size_t(4096))
    return set(host)


if __name__ == "__main__":
    print("done", run(sys.argv[1:] == ["ordered"]))
