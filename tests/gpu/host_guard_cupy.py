"""CuPy's ways of using the host's memory: its pool of pinned memory, copies that wait and that do not, managed
memory, host functions, a pipeline of two buffers. Prints what a right program prints."""

import cupy
import cupyx
import numpy

COUNT = 1 << 16


def copies():
    host = numpy.arange(COUNT, dtype=numpy.float32)
    on_device = cupy.asarray(host)
    print("copies", float(cupy.asnumpy(on_device * 2).sum()), float((on_device + 1).get()[5]))


def pool():
    pool = cupy.cuda.PinnedMemoryPool()
    cupy.cuda.set_pinned_memory_allocator(pool.malloc)
    total = 0.0
    for size in 100, 5000, 70000, 100, 5000:
        total += float(cupy.asnumpy(cupy.asarray(numpy.full(size, 2, numpy.float32)).cumsum())[-1])
    pool.free_all_blocks()
    cupy.cuda.set_pinned_memory_allocator()
    print("pool", total)


def pipeline():
    """One buffer is filled while the other is copied and worked on."""
    stream = cupy.cuda.Stream(non_blocking=True)
    host = [cupyx.empty_pinned(COUNT, dtype=cupy.float32) for _ in range(2)]
    device = [cupy.empty(COUNT, dtype=cupy.float32) for _ in range(2)]
    back = [cupyx.empty_pinned(COUNT, dtype=cupy.float32) for _ in range(2)]
    done, total = [None, None], 0.0
    cupy.cuda.Device().synchronize()
    for step in range(12):
        i = step % 2
        if done[i]:
            done[i].synchronize()
            total += float(back[i][step])
        host[i][:] = step
        with stream:
            device[i].set(host[i], stream=stream)
            device[i] *= 3
            device[i].get(stream=stream, out=back[i], blocking=False)
            done[i] = stream.record()
    stream.synchronize()
    print("pipeline", total)


def managed():
    allocator = cupy.cuda.get_allocator()
    cupy.cuda.set_allocator(cupy.cuda.malloc_managed)
    values = cupy.arange(COUNT, dtype=cupy.int64)
    total = int((values * values).sum())
    cupy.cuda.Device().synchronize()
    cupy.cuda.set_allocator(allocator)
    print("managed", total)


def host_function():
    stream = cupy.cuda.Stream(non_blocking=True)
    host = cupyx.zeros_pinned(COUNT, dtype=cupy.float32)
    on_device = cupy.ones(COUNT, dtype=cupy.float32)
    cupy.cuda.Device().synchronize()
    seen = []
    on_device.get(stream=stream, out=host, blocking=False)
    stream.launch_host_func(lambda array: seen.append(float(array[COUNT - 1])), host)
    stream.synchronize()
    print("host function", seen)


def sorts():
    generator = cupy.random.RandomState(7)
    values = generator.random_sample(COUNT)
    order = cupy.argsort(values)
    print("sorts", bool((values[order][1:] >= values[order][:-1]).all()), float(cupy.fft.fft(values)[0].imag))


for each in copies, pool, pipeline, managed, host_function, sorts:
    each()
