/* What a launch of a graph costs in csan: through the real hooks, with a driver that does nothing
 * (the tests' fake), so that the time is csan's own. And what instantiating it costs, which
 * compares its nodes with each other and merges them.
 *
 *   bench_graph [LAUNCHES] */
#include "hook_bench.h"

#include <dlfcn.h>

enum { NODES = 10000, LAUNCHES = 100000, BYTES = 4096 };

/* `width` chains of sets, each node on the next of `ranges` ranges of its chain's. */
static CUgraph make_graph(PFN_cuGraphCreate_v10000 create, int width, int ranges)
{
    CUgraph graph;
    CUgraphNode *last = calloc((size_t)width, sizeof(CUgraphNode));
    CUdeviceptr memory;
    check(create(&graph, 0), "cuGraphCreate");
    check(cuMemAlloc_v2(&memory, (size_t)width * (size_t)ranges * 2 * BYTES), "cuMemAlloc");
    for (int i = 0; i < NODES; i++) {
        int chain = i % width, range = i / width % ranges;
        CUDA_MEMSET_NODE_PARAMS_v1 params = {
            .dst = memory +
                   ((CUdeviceptr)chain * (CUdeviceptr)ranges + (CUdeviceptr)range) * 2 * BYTES,
            .elementSize = 1,
            .width = BYTES,
            .height = 1};
        check(cuGraphAddMemsetNode(&last[chain], graph, &last[chain], i >= width, &params, NULL),
              "cuGraphAddMemsetNode");
    }
    free(last);
    return graph;
}

static void measure(PFN_cuGraphCreate_v10000 create, int width, int ranges, int launches)
{
    CUstream stream;
    CUgraphExec exec;
    CUgraph graph = make_graph(create, width, ranges);
    check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    double start = nanoseconds();
    check(cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
    double instantiated = nanoseconds();
    for (int i = 0; i < launches; i++)
        check(cuGraphLaunch(exec, stream), "cuGraphLaunch");
    double launched = nanoseconds();
    int distinct = width * ranges;
    printf(
        "%6d nodes, %4d chain%s %5d distinct ranges: instantiate %8.2f ms, launch %9.0f ns, %5.1f "
        "ns a range\n",
        NODES, width, width == 1 ? ", " : "s,", distinct, (instantiated - start) / 1e6,
        (launched - instantiated) / launches, (launched - instantiated) / launches / distinct);
}

int main(int argc, char **argv)
{
    bench_start(argv);
    int launches = argc > 1 ? atoi(argv[1]) : LAUNCHES;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    PFN_cuGraphCreate_v10000 create =
        driver ? (PFN_cuGraphCreate_v10000)dlsym(driver, "cuGraphCreate") : NULL;
    if (!create || launches < 1) {
        fprintf(stderr, "bench_graph: no fake driver in " FAKE_DRIVER ": run make bench\n");
        return 1;
    }
    measure(create, 1, 1, launches);
    measure(create, 1, 10, launches);
    measure(create, 100, 1, launches / 10 + 1);
    measure(create, 100, 10, launches / 100 + 1);
    measure(create, 1000, 10, launches / 1000 + 1);
    return 0;
}
