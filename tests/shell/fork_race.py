# Two memsets that nothing orders, by the driver API; in a child that multiprocessing starts in the given way.
import ctypes, multiprocessing, os, sys

def race(end=None):
    cuda = ctypes.CDLL("libcuda.so.1")
    context, a, b, p = (ctypes.c_void_p() for _ in range(4))
    assert cuda.cuInit(0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0
    assert cuda.cuStreamCreate(ctypes.byref(a), 1) == 0
    assert cuda.cuStreamCreate(ctypes.byref(b), 1) == 0
    assert cuda.cuMemAlloc_v2(ctypes.byref(p), ctypes.c_size_t(4096)) == 0
    for stream in (a, b):
        assert cuda.cuMemsetD8Async(p, ctypes.c_ubyte(0), ctypes.c_size_t(4096), stream) == 0
    cuda.cuCtxSynchronize()
    if end is not None:
        os._exit(end)

if __name__ == "__main__":
    how = sys.argv[1]
    if how == "here":
        race()
    elif how == "late":
        race()
        child = multiprocessing.get_context("fork").Process(target=race)
        child.start(); child.join()
        print("child", child.exitcode)
    elif how == "pool":
        with multiprocessing.get_context(sys.argv[2]).Pool(2) as pool:
            pool.map(race, [None, None])
    else:
        child = multiprocessing.get_context(how).Process(target=race)
        child.start(); child.join()
