# The kernels of failure.cu that fail, launched by a program of PyTorch into its stream, with tensors as their memory; and
# what PyTorch raises then.
#   torch_kinds.py IMAGE KIND      IMAGE: failure.cu compiled by nvcc -fatbin
import ctypes
import sys
import torch

image, kind = sys.argv[1:]
driver = ctypes.CDLL("libcuda.so.1")


def done(code):
    assert code == 0, f"error {code}"


def kernel(name):
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    with open(image, "rb") as file:
        done(driver.cuModuleLoadData(ctypes.byref(module), file.read() + b"\0"))
    done(driver.cuModuleGetFunction(ctypes.byref(function), module, name.encode()))
    return function


def put(function, grid, block, *values, shared=0):
    """Puts the kernel into the current stream. Tensors are passed by their addresses; all values have eight bytes."""
    boxes = [ctypes.c_int64(value.data_ptr() if isinstance(value, torch.Tensor) else value) for value in values]
    places = (ctypes.c_void_p * len(boxes))(*(ctypes.addressof(box) for box in boxes))
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    return driver.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, stream, places, None)


def far():
    f = kernel("_Z8write_atPil")
    return put(f, 4, 64, p, 1 << 40)  # launch


def freed():
    f = kernel("_Z8write_atPil")
    big = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")  # freed
    address = big.data_ptr()
    del big
    torch.cuda.empty_cache()
    return put(f, 4, 64, address, 5)  # launch


def null():
    f = kernel("_Z7read_atPiPKi")
    return put(f, 4, 64, p, 16)  # launch


def host():
    f = kernel("_Z7read_atPiPKi")
    return put(f, 4, 64, p, torch.zeros(4, dtype=torch.int32))  # launch


def atomic():
    f = kernel("_Z6add_atPi")
    return put(f, 1, 32, p)  # launch


def misaligned():
    f = kernel("_Z10misalignedPc")
    return put(f, 1, 32, p)  # launch


def shared():
    f = kernel("_Z10shared_farPii")
    return put(f, 1, 64, p, 1 << 16, shared=256)  # launch


def trap():
    f = kernel("_Z7trappedv")
    return put(f, 2, 32)  # launch


def trap_far():
    f = kernel("_Z16traps_and_writesPil")
    return put(f, 1, 32, p, 1 << 40)  # launch


def assert_far():
    f = kernel("_Z18asserts_and_writesPil")
    return put(f, 1, 32, p, 1 << 40)  # launch


def asserts():
    f = kernel("_Z7assertsi")
    return put(f, 1, 32, 5)  # launch


def stack():
    f = kernel("_Z5stackPi")
    return put(f, 1, 32, p)  # launch


def jump():
    f = kernel("_Z5jumpsPiPFvS_E")
    return put(f, 1, 32, p, 0x123456789AB0)  # launch


def late():
    f = kernel("_Z4latePil")
    return put(f, 1, 32, p, 1 << 40)  # launch


def none():
    return put(kernel("_Z4goodPi"), 4, 64, p)


def say(what, call):
    try:
        call()
        print(what, "well", flush=True)
    except Exception as error:  # whatever PyTorch raises
        print(what, type(error).__name__, str(error).splitlines()[0], flush=True)


p = torch.zeros(256, dtype=torch.int32, device="cuda")  # memory
torch.cuda.synchronize()
print("launch", {"assert": asserts}.get(kind, globals().get(kind))(), flush=True)
say("synchronize", torch.cuda.synchronize)
say("again", torch.cuda.synchronize)
say("copy", lambda: p.cpu())
say("tensor", lambda: torch.ones(3, device="cuda"))
