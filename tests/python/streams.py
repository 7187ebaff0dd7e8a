"""Two streams that set the same memory in no order, through the driver alone, from the kinds of frames
that Python has: each race must be reported with its own lines."""

import ctypes
import threading

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    if code:
        raise RuntimeError(f"{name}: {code}")


def made(name, kind, *arguments):
    result = kind()
    call(name, ctypes.byref(result), *arguments)
    return result


def memory():
    return made("cuMemAlloc_v2", ctypes.c_uint64, ctypes.c_size_t(64))


def fill(buffer, stream):
    call("cuMemsetD8Async", buffer, 1, ctypes.c_size_t(64), stream)


def from_generator(buffer, stream):
    def fills():
        yield fill(buffer, stream)  # in a generator

    for _ in fills():
        pass


def from_source(buffer, stream, line):
    """The same function, made anew on another line."""
    source = "\n" * line + "def made_anew():\n    fill(buffer, stream)\n"
    scope = {"fill": fill, "buffer": buffer, "stream": stream}
    exec(compile(source, "made.py", "exec"), scope)
    scope["made_anew"]()


def füllen_自(buffer, stream):
    fill(buffer, stream)  # in a name of two bytes a character


def deep(depth, buffer, stream):
    if depth:
        deep(depth - 1, buffer, stream)
    else:
        fill(buffer, stream)


def in_thread(function, *arguments):
    thread = threading.Thread(target=function, args=arguments)
    thread.start()
    thread.join()


def main():
    call("cuInit", 0)
    context = made("cuDevicePrimaryCtxRetain", ctypes.c_void_p, 0)
    call("cuCtxSetCurrent", context)
    one, other = (made("cuStreamCreate", ctypes.c_void_p, 1) for _ in range(2))
    for function in from_generator, füllen_自:
        buffer = memory()
        fill(buffer, one)
        function(buffer, other)
    for line in 10, 20, 30:
        from_source(memory(), one, 1)
        buffer = memory()
        from_source(buffer, one, line)
        from_source(buffer, other, line + 100)
    buffer = memory()
    deep(3, buffer, one)
    deep(500, buffer, other)
    buffer = memory()

    def threaded():
        call("cuCtxSetCurrent", context)
        fill(buffer, other)  # in a thread

    fill(buffer, one)
    in_thread(threaded)
    call("cuCtxSynchronize")
    print("done")


main()
