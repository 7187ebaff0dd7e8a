/* Programs of their own under the tracer, on the GPU that stands in (hook_gpu.h): what is said
 * where there are no traces, and what there are traces of from a program's start to its end. Where
 * csan is built without its tracer, the summary must say so. */
#include "tests/unit/hook/tracer/hook_gpu_run.h"
#include "tests/unit/short_memory.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define SYSTEM_LIBRARY "/usr/local/cuda/compute-sanitizer/libsanitizer-public.so"

#ifdef TRACER

/* ---- What is said ---- */

static void a_wheel_has_it_beside_the_run_time_library(void **state)
{
    (void)state;
    assert_int_equal(run("wheel", GPU, "", ""), 0);
    assert_non_null(strstr(output, "1 launch traced"));
}

static void a_toolkit_has_it(void **state)
{
    (void)state;
    assert_int_equal(run("once", GPU, "CUDA_HOME='" TOOLS "'", ""), 0);
    assert_null(strstr(output, "could not be traced"));
}

static void a_missing_library_is_said(void **state)
{
    (void)state;
    if (access(SYSTEM_LIBRARY, F_OK) == 0)
        skip(); /* it is not missing */
    assert_int_equal(run("once", GPU, "", ""), 0);
    assert_non_null(strstr(output, "could not be traced: libsanitizer-public.so of the CUDA "
                                   "Toolkit was not found"));
}

static void another_tool_is_said(void **state)
{
    (void)state;
    assert_int_equal(run("once", GPU ":" TOOLS, "FAKE_SANITIZER=taken", ""), 0);
    assert_non_null(strstr(output, "could not be traced: another tool"));
}

static void no_memory_is_said(void **state)
{
    (void)state;
    assert_int_equal(run("once", GPU ":" TOOLS, "", "learn_memory_mb=0"), 0);
    assert_non_null(strstr(output, "could not be traced: learn_memory_mb=0"));
}

/* Patched code takes ten times as long. */
static void what_is_not_traced_is_not_patched(void **state)
{
    (void)state;
    assert_int_equal(run("patches", GPU ":" TOOLS, "", "print_summary=0"), 0);
    assert_string_equal(output, "patched\n");
    assert_int_equal(run("patches", GPU ":" TOOLS, "", "learn_memory_mb=0:print_summary=0"), 0);
    assert_string_equal(output, "not patched\n");
}

/* Whichever table that a launch needs cannot be made, of all that the first one makes and then of
 * a kernel's own. */
static void a_program_goes_on_when_memory_is_short(void **state)
{
    (void)state;
#ifdef MEMORY_IS_NEVER_SHORT
    skip();
#endif
    assert_int_equal(run("short", GPU ":" TOOLS, "", "print_summary=0"), 0);
    assert_string_equal(output, "some not traced, then traced\n");
}

/* ---- What a whole program has ---- */

/* A launch of many threads that fills a record has larger ones from then on; one of few does not.
 */
static void much_makes_the_next_record_larger(void **state)
{
    (void)state;
    assert_int_equal(run("much", GPU ":" TOOLS, "", "learn_memory_mb=40:print_summary=0"), 0);
    assert_string_equal(output, "sizes 0 1 0, granules 4 4 4\n");
}

/* Records have nothing of what is copied through tensor maps. */
static void much_memory_of_maps_needs_no_large_record(void **state)
{
    (void)state;
    assert_int_equal(run("maps", GPU ":" TOOLS, "", "learn_memory_mb=40:print_summary=0"), 0);
    assert_string_equal(output, "traced 1, size 0\n");
}

static void without_being_asked_it_learns_of_machine_code(void **state)
{
    (void)state;
    assert_int_equal(run("auto", GPU ":" TOOLS, "", "access=auto"), 0);
    assert_non_null(strstr(output, "live 0, then 1, traced 3, live 0, heard 0\n"));
    assert_non_null(strstr(output, "3 launches known from earlier ones"));
}

/* Where nobody reads the maps that a kernel copies through, what is traced of it is not all. */
static void what_copies_through_maps_is_not_traced_without_them(void **state)
{
    (void)state;
    assert_int_equal(run("copies", GPU ":" TOOLS, "", "access=exact:print_summary=0"), 0);
    assert_string_equal(output, "traced 0, then 1\n");
}

static void what_is_loaded_to_be_launched_is_traced_at_once(void **state)
{
    (void)state;
    assert_int_equal(run("lazy", GPU ":" TOOLS, "", "access=auto"), 0);
    assert_non_null(strstr(output, "live 0, then 1, traced 1\n"));
    assert_int_equal(run("lazy", GPU ":" TOOLS, "", "access=auto:learn_warmup_ms=0"), 0);
    assert_non_null(strstr(output, "live 0, then 0, traced 0\n")); /* there is no time */
}

/* The driver's tools interface is for one: who did not ask for csan to have it keeps a profiler. */
static void a_profiler_goes_first(void **state)
{
    (void)state;
    assert_int_equal(run("auto", GPU ":" TOOLS, "CUDA_INJECTION64_PATH=libtool.so", "access=auto"),
                     0);
    assert_non_null(strstr(output, "traced 0,"));
    assert_non_null(strstr(output, "launches could not be traced: CUDA_INJECTION64_PATH names a "
                                   "tool, so the driver's tools interface was left alone"));
    assert_int_equal(run("auto", GPU ":" TOOLS, "LD_PRELOAD=" GPU "/libcupti.so.13", "access=auto"),
                     0);
    assert_non_null(strstr(output, "launches could not be traced: the program has CUPTI"));
    assert_int_equal(run("auto", GPU ":" TOOLS, "LD_PRELOAD=" GPU "/libcupti.so.13", ""), 0);
    assert_non_null(strstr(output, "traced 3,"));
    assert_int_equal(run("auto", GPU ":" TOOLS, "LD_PRELOAD=" GPU "/libcupti.so.13", "access=ptx"),
                     0);
    assert_null(strstr(output, "could not be traced"));
}

static void what_is_loaded_when_all_is_known_is_traced_at_once(void **state)
{
    (void)state;
    assert_int_equal(run("later", GPU ":" TOOLS, "", "print_summary=0"), 0);
    assert_string_equal(output, "live 0, then 1, traced 4\n");
}

static void known_graphs_are_not_listened_to(void **state)
{
    (void)state;
    assert_int_equal(run("graph", GPU ":" TOOLS, "", "print_summary=0"), 0);
    assert_string_equal(output, "traced 3, live 0, heard 0\n");
}

/* While a stream waits for the host, the device does not go on with a patched context's first. */
static void a_context_s_first_launch_is_csan_s(void **state)
{
    (void)state;
    assert_int_equal(run("first", GPU ":" TOOLS, "", "print_summary=0"), 0);
    assert_string_equal(output, "launches 1, then 1, then 2, patched 0, heard 2, traced 1\n");
    assert_int_equal(run("first", GPU ":" TOOLS, "", "access=ptx:print_summary=0"), 0);
    assert_string_equal(output, "launches 0, then 0, then 0, patched 0, heard 0, traced 0\n");
}

static void refused_patches_are_said(void **state)
{
    (void)state;
    assert_int_equal(run("refused", GPU ":" TOOLS, "", ""), 0);
    assert_non_null(strstr(output, "refused 1 module or context (first: an invalid parameter)"));
    assert_int_equal(run("refused-later", GPU ":" TOOLS, "", "access=auto"), 0);
    assert_non_null(strstr(output, "refused 1 module or context (first: an invalid parameter)"));
}

/* What the reader watches does not keep the program from ending. */
static void a_program_may_end_meanwhile(void **state)
{
    (void)state;
    alarm(30);
    assert_int_equal(run("end", GPU ":" TOOLS, "", ""), 0);
    alarm(0);
}

static int mode_short(CUdeviceptr p, CUdeviceptr q)
{
    int launches_made = 0;
    touch(q, 4, 4, 16, FAKE_WRITE);
    for (bool all = false; !all; launches_made++) {
        CUfunction f = fresh();
        short_of = TABLE_BYTES;
        short_from = (unsigned)launches_made + 1;
        if (launch(f, p, q, NULL) != CUDA_SUCCESS)
            return 1;
        all = short_from > 0;
        short_of = 0;
        races();
    }
    const int before = changes().traced;
    launch(fresh(), p, q, NULL);
    races();
    printf("%s, then %s\n", before < launches_made - 1 ? "some not traced" : "all traced",
           changes().traced > before ? "traced" : "not");
    return 0;
}

static int mode_copies(CUdeviceptr p, CUdeviceptr q)
{
    uint8_t maps[128] = {0};
    CUfunction f = copier();
    structure(sizeof maps);
    cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){maps}, NULL);
    races();
    structure(0);
    const int before = changes().traced;
    touch(q, 4, 4, 16, FAKE_WRITE);
    launch(fresh(), p, q, NULL);
    races();
    printf("traced %d, then %d\n", before, changes().traced);
    return 0;
}

static int mode_maps(CUdeviceptr p, CUdeviceptr q)
{
    enum { BLOCKS = 1 << 20 };
    uint8_t maps[128];
    (void)p;
    map_rows(maps, device(256 << 20), 4, 128);
    map_rows(maps + 64, q, 3, 128);
    CUfunction f = copier();
    structure(sizeof maps);
    touch(q + 384, 4, 4, 8, FAKE_WRITE);
    cuLaunchKernel(f, BLOCKS, 1, 1, 1, 1, 1, 0, NULL, (void *[]){maps}, NULL);
    wait_reported();
    printf("traced %d, size %u\n", changes().traced, changes().size);
    return 0;
}

static int mode_much(CUdeviceptr p, CUdeviceptr small)
{
    enum { STRIDE = 4096, TIMES = 40000 };
    struct fake_changes seen[3];
    static const unsigned blocks[] = {64, 64, 2};
    const CUdeviceptr q = device((size_t)STRIDE * TIMES);
    CUfunction f = fresh();
    (void)small;
    touch(q, 4, STRIDE, TIMES, FAKE_WRITE);
    for (int i = 0; i < 3; i++) {
        if (launch_blocks(blocks[i], f, p, q, NULL) != CUDA_SUCCESS)
            return 1;
        wait_reported();
        seen[i] = changes();
    }
    printf("sizes %u %u %u, granules %u %u %u\n", seen[0].size, seen[1].size, seen[2].size,
           1u << seen[0].shift, 1u << seen[1].shift, 1u << seen[2].shift);
    return 0;
}

/* Nothing is changed for modules as such; for a kernel that has no PTX, once the device is idle. */
static int mode_auto(CUdeviceptr p, CUdeviceptr q)
{
    CUfunction f = fresh();
    fresh(); /* which nobody launches */
    touch(q, 4, 4, 16, FAKE_WRITE);
    struct fake_changes loaded = changes();
    launch(f, p, q, NULL);
    cuCtxSynchronize();
    struct fake_changes idle = changes();
    launch_reported(5, f, p, q); /* the second and third to learn, the fourth to confirm */
    struct fake_changes known = changes();
    for (int i = 0; i < 10; i++)
        cuCtxSynchronize();
    struct fake_changes quiet = changes();
    launch(f, p, q, NULL);
    printf("live %d, then %d, traced %d, live %d, heard %d\n", loaded.live, idle.live, known.traced,
           quiet.live, changes().heard - quiet.heard);
    return 0;
}

/* A kernel that is loaded at its first launch, of which a trace is wanted. */
static int mode_lazy(CUdeviceptr p, CUdeviceptr q)
{
    CUlibrary library;
    CUkernel kernel;
    fake_set_parameters(2);
    touch(q, 4, 4, 16, FAKE_WRITE);
    if (cuLibraryLoadData(&library, machine_code, NULL, NULL, 0, NULL, NULL, 0) != CUDA_SUCCESS ||
        cuLibraryGetKernel(&kernel, library, "lazy") != CUDA_SUCCESS)
        return 2;
    struct fake_changes before = changes();
    launch((CUfunction)kernel, p, q, NULL);
    wait_reported();
    printf("live %d, then %d, traced %d\n", before.live, changes().live, changes().traced);
    return 0;
}

static int mode_graph(CUdeviceptr p, CUdeviceptr q)
{
    CUstream s = non_blocking();
    touch(q, 4, 4, 16, FAKE_WRITE);
    CUgraphExec exec = graph_of(fresh(), p, q, 1);
    for (int i = 0; i < 4; i++) {
        OK(cuGraphLaunch(exec, s));
        wait_reported();
    }
    for (int i = 0; i < 10; i++)
        cuCtxSynchronize();
    struct fake_changes quiet = changes();
    for (int i = 0; i < 3; i++) /* until it is looked at again */
        OK(cuGraphLaunch(exec, s));
    printf("traced %d, live %d, heard %d\n", quiet.traced, quiet.live,
           changes().heard - quiet.heard);
    return 0;
}

static int mode_first(CUdeviceptr p, CUdeviceptr q)
{
    CUcontext context;
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    const int made = launches();
    OK(cuDevicePrimaryCtxRetain(&context, 0)); /* the same */
    const int again = launches();
    set_context((void *)0xd0);
    OK(cuCtxCreate(&context, NULL, 0, 0));
    const struct fake_changes before = changes();
    printf("launches %d, then %d, then %d, patched %d, heard %d", made, again, launches(),
           before.patched, before.heard);
    touch(q, 4, 4, 16, FAKE_WRITE);
    launch(fresh(), p, q, NULL);
    wait_reported();
    printf(", traced %d\n", changes().traced);
    return 0;
}

/* A kernel that is loaded when all others are known: its first launch is traced. */
static int mode_later(CUdeviceptr p, CUdeviceptr q)
{
    CUfunction f = fresh();
    touch(q, 4, 4, 16, FAKE_WRITE);
    launch_reported(4, f, p, q);
    cuCtxSynchronize();
    return mode_lazy(p, q);
}

static int mode_patches(CUdeviceptr p, CUdeviceptr q)
{
    launch(fresh(), p, q, NULL);
    cuCtxSynchronize();
    printf(changes().patched ? "patched\n" : "not patched\n");
    return 0;
}

static int mode_run(const char *mode)
{
    if (strcmp(mode, "wheel") == 0)
        dlopen(TOOLS "/libcudart.so.13", RTLD_NOW);
    CUdeviceptr q, p = two_buffers(&q);
    controls_find();
    if (strcmp(mode, "short") == 0)
        return mode_short(p, q);
    if (strcmp(mode, "patches") == 0)
        return mode_patches(p, q);
    if (strcmp(mode, "copies") == 0)
        return mode_copies(p, q);
    if (strcmp(mode, "maps") == 0)
        return mode_maps(p, q);
    if (strcmp(mode, "much") == 0)
        return mode_much(p, q);
    if (strcmp(mode, "auto") == 0)
        return mode_auto(p, q);
    if (strcmp(mode, "first") == 0)
        return mode_first(p, q);
    if (strcmp(mode, "graph") == 0)
        return mode_graph(p, q);
    if (strcmp(mode, "later") == 0)
        return mode_later(p, q);
    if (strcmp(mode, "lazy") == 0)
        return mode_lazy(p, q);
    if (strncmp(mode, "refused", 7) == 0)
        refuse_patches(1);
    if (strcmp(mode, "refused-later") == 0) {
        CUfunction f = fresh();
        launch(f, p, q, NULL);
        cuCtxSynchronize();
    }
    if (strcmp(mode, "end") == 0)
        hold(1);
    touch(q, 4, 4, 16, FAKE_WRITE);
    launch(fresh(), p, q, NULL);
    if (strcmp(mode, "wheel") == 0)
        printf("%d launch traced\n", changes().traced);
    return 0;
}

#else

static int mode_run(const char *mode)
{
    (void)mode;
    CUdeviceptr q, p = two_buffers(&q);
    launch(fresh(), p, q, NULL);
    return 0;
}

static void a_build_without_it_says_so(void **state)
{
    (void)state;
    assert_int_equal(run("once", FAKE_DRIVER, "", ""), 0);
    assert_non_null(strstr(output, "could not be traced: this csan was built without its tracer"));
}

#endif

int main(int argc, char **argv)
{
    if (argc > 1)
        return mode_run(argv[1]);
#ifdef TRACER
#define TEST(name) cmocka_unit_test_setup(name, hook_setup)
    gpu_test_start(argv);
    const struct CMUnitTest tests[] = {
        TEST(a_wheel_has_it_beside_the_run_time_library),
        TEST(a_toolkit_has_it),
        TEST(a_missing_library_is_said),
        TEST(another_tool_is_said),
        TEST(no_memory_is_said),
        TEST(what_is_not_traced_is_not_patched),
        TEST(a_program_goes_on_when_memory_is_short),
        TEST(much_makes_the_next_record_larger),
        TEST(much_memory_of_maps_needs_no_large_record),
        TEST(without_being_asked_it_learns_of_machine_code),
        TEST(what_copies_through_maps_is_not_traced_without_them),
        TEST(what_is_loaded_to_be_launched_is_traced_at_once),
        TEST(what_is_loaded_when_all_is_known_is_traced_at_once),
        TEST(known_graphs_are_not_listened_to),
        TEST(a_profiler_goes_first),
        TEST(a_context_s_first_launch_is_csan_s),
        TEST(refused_patches_are_said),
        TEST(a_program_may_end_meanwhile),
    };
#else
    hook_test_start(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_build_without_it_says_so, hook_setup)};
#endif
    return hook_finish(cmocka_run_group_tests_name("hook_tracer_run", tests, NULL, NULL));
}
