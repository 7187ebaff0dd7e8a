/* What an earlier process learned, in one that traces nothing: because a profiler has the driver's
 * tools interface, or learning was given no memory. The kernel's parameters are a structure of
 * three words, of which it reads two; the third differs in each launch. So what is kept of it is
 * found again only by what its machine code says, at which the second process cannot look: as when
 * the driver compiles PTX, the image has other code. */
#include "tests/unit/hook/tracer/hook_gpu.h"

#include "tests/unit/hook/tracer/fake_cubin.h"

#include <ctype.h>
#include <errno.h>

enum { BYTES = 64, LAUNCHES = 6, PARAMETERS = 24 };

static char output[8192], directory[] = "/tmp/csan-kept-XXXXXX";

/* ---- Images ---- */

static uint8_t image[FAKE_CUBIN_BYTES]; /* lies in a loaded object */

static size_t image_make(const char *kernel)
{
    static const struct instruction instructions[] = {FAKE_LDC64(FAKE_PARAMS_AT + 16), {0x794d, 0}};
    return fake_cubin(image,
                      &(struct fake_function){.name = kernel,
                                              .is_kernel = 1,
                                              .param_bytes = PARAMETERS,
                                              .code = instructions,
                                              .count = 2},
                      1);
}

static CUmodule load_copy(size_t bytes)
{
    CUmodule module = NULL;
    void *copy = malloc(bytes);
    if (!copy)
        exit(2);
    memcpy(copy, image, bytes);
    OK(cuModuleLoadData(&module, copy));
    memset(copy, 0, bytes);
    free(copy);
    return module;
}

static CUmodule load_file(size_t bytes)
{
    char path[sizeof directory + 16];
    CUmodule module = NULL;
    snprintf(path, sizeof path, "%s/image", getenv("CSAN_CACHE"));
    FILE *file = fopen(path, "w");
    if (!file || fwrite(image, 1, bytes, file) != bytes || fclose(file) != 0)
        exit(2);
    OK(cuModuleLoad(&module, path));
    unlink(path);
    return module;
}

static unsigned blocks = 1; /* of the grid */

static CUresult launch_words(CUfunction f, uint64_t p, uint64_t q, CUstream stream)
{
    static uint64_t number;
    uint64_t words[PARAMETERS / 8] = {p, q, ++number << 32 | (uint64_t)getpid()};
    return cuLaunchKernel(f, blocks, 1, 1, 1, 1, 1, 0, stream, (void *[]){words}, NULL);
}

static unsigned graph_nodes = 1; /* one after another */

static CUresult launch_graph(CUfunction f, uint64_t p, uint64_t q, CUstream stream)
{
    uint64_t words[PARAMETERS / 8] = {p, q, (uint64_t)getpid()};
    const CUDA_KERNEL_NODE_PARAMS_v2 params = {.func = f,
                                               .gridDimX = graph_nodes, /* as no launch has */
                                               .gridDimY = 1,
                                               .gridDimZ = 1,
                                               .blockDimX = 1,
                                               .blockDimY = 1,
                                               .blockDimZ = 1,
                                               .kernelParams = (void *[]){words}};
    CUgraph graph = graph_make();
    CUgraphNode nodes[2];
    CUgraphExec exec;
    for (unsigned i = 0; i < graph_nodes; i++)
        OK(cuGraphAddKernelNode_v2(&nodes[i], graph, nodes, i, &params));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CUresult result = CUDA_SUCCESS;
    for (int i = 0; i < LAUNCHES && result == CUDA_SUCCESS; i++)
        result = cuGraphLaunch(exec, stream);
    return result;
}

/* ---- Many kernels ---- */

enum { KERNELS = 12, WORDS = 32, VALUES = 3, TIMES = 10 };

struct random_kernel {
    CUfunction function;
    uint32_t reads; /* a bit for each word */
    uint32_t end;   /* what is behind that word is read only where it is not 0 */
};

static uint32_t random_of(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

/* The first three words, a pointer and which of the kernel's launches it is, and random others. */
static struct random_kernel random_kernel(int number, uint64_t *seed)
{
    static char names[KERNELS][24]; /* the fake keeps them */
    char *name = names[number];
    CUmodule module;
    struct random_kernel kernel = {.reads = 7 | random_of(seed) | random_of(seed),
                                   .end = 3 + random_of(seed) % (WORDS - 3)};
    snprintf(name, sizeof *names, "random%d", number);
    code(name, WORDS * 4, kernel.reads);
    if (random_of(seed) % 2)
        code_ends(kernel.end);
    else
        kernel.end = WORDS;
    image_make(name);
    OK(cuModuleLoadData(&module, image));
    OK(cuModuleGetFunction(&kernel.function, module, name));
    return kernel;
}

/* The words that it reads are what that launch has, others are anything. */
static void random_launch(const struct random_kernel *kernel, uint32_t value, CUdeviceptr p,
                          uint64_t *any)
{
    uint64_t seed = (uint64_t)(uintptr_t)kernel->reads * VALUES + value;
    uint32_t words[WORDS] = {(uint32_t)p, (uint32_t)(p >> 32), value};
    bool is_read = true;
    for (uint32_t i = 3; i < WORDS; i++) {
        const uint32_t own = random_of(&seed) % 3;
        words[i] = is_read && kernel->reads >> i & 1 ? own : random_of(any);
        if (i == kernel->end)
            is_read = (words[i] = own) != 0;
    }
    touch(p, 4, 4, value + 1, FAKE_WRITE);
    OK(cuLaunchKernel(kernel->function, 1 + value % 2, 1, 1, 1, 1, 1, 0, NULL, (void *[]){words},
                      NULL));
    wait_reported();
}

static int random_program(const char *number)
{
    uint64_t seed = strtoull(number, NULL, 10), any = (uint64_t)getpid();
    const CUdeviceptr p = device(512);
    structure(WORDS * 4);
    for (int i = 0; i < KERNELS; i++) {
        const struct random_kernel kernel = random_kernel(i, &seed);
        for (uint32_t k = 0; k < VALUES * TIMES; k++)
            random_launch(&kernel, k % VALUES, p, &any);
        cuCtxSynchronize();
    }
    printf("traced %d\n", changes().traced);
    return 0;
}

/* ---- Maps ---- */

/* It copies from one tensor map to another, in a way that its code shows, or not. */
static int maps_program(const char *how)
{
    const bool reported = strcmp(how, "unknown maps") != 0;
    uint8_t maps[128] = {0};
    CUmodule module;
    CUfunction f;
    const CUdeviceptr p = device(512), q = device(512);
    copy_by_tensor_maps(reported ? 2 : 1);
    code("maps", sizeof maps, 0);
    image_make("maps");
    OK(cuModuleLoadData(&module, image));
    OK(cuModuleGetFunction(&f, module, "maps"));
    structure(sizeof maps);
    touch(q + 384, 4, 4, 8, FAKE_WRITE);
    map_rows(maps, p, strcmp(how, "untaught_maps") == 0 ? 64 : 4, 128); /* beyond p's memory */
    map_rows(maps + 64, q, 3, 128);
    for (int i = 0; i < LAUNCHES; i++) {
        OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){maps}, NULL));
        wait_reported();
        cuCtxSynchronize();
    }
    return 0;
}

/* ---- One ---- */

/* As PTX it is known by that, which says that p decides where in q it writes. */
static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".visible .entry kept(.param .align 8 .b8 kept_param_0[24])\n"
                           "{\n.reg .b64 %rd<8>;\n.reg .b32 %r<3>;\n"
                           "ld.param.u64 %rd1, [kept_param_0];\n"
                           "ld.param.u64 %rd2, [kept_param_0+8];\n"
                           "cvta.to.global.u64 %rd3, %rd1;\ncvta.to.global.u64 %rd4, %rd2;\n"
                           "ld.global.u32 %r1, [%rd3];\nmul.wide.u32 %rd5, %r1, 4;\n"
                           "add.s64 %rd6, %rd4, %rd5;\nst.global.u32 [%rd6], %r1;\nret;\n}\n";

/* It writes q. Twice on two streams, which nothing orders. */
static int program(const char *how)
{
    CUdeviceptr p = device(512), q = device(512);
    CUstream one = non_blocking(), other = non_blocking();
    CUmodule module = NULL;
    CUfunction f;
    struct csan_race race = {0};
    code("kept", PARAMETERS, 0xf);
    const size_t bytes = image_make("kept");
    if (strcmp(how, "copy") == 0)
        module = load_copy(bytes);
    else if (strcmp(how, "file") == 0)
        module = load_file(bytes);
    else
        OK(cuModuleLoadData(&module, strcmp(how, "text") == 0 ? (const void *)text : image));
    if (strcmp(how, "reused") == 0) /* for something else */
        memset(image, 0xff, bytes);
    OK(cuModuleGetFunction(&f, module, "kept"));
    structure(PARAMETERS);
    touch(q, 4, 4, BYTES / 4, FAKE_WRITE);
    for (int i = 0; i < (strcmp(how, "once") == 0 ? 1 : LAUNCHES); i++) {
        launch_words(f, p, q, one);
        wait_reported();
    }
    cuCtxSynchronize();
    if (strcmp(how, "once") == 0)
        return 0;
    if (strcmp(how, "another") == 0)
        OK(cuModuleGetFunction(&f, module, how));
    graph_nodes += strcmp(how, "graph_of_two") == 0;
    blocks += strcmp(how, "larger") == 0;
    const uint64_t mark = csan_race_mark();
    OK((strncmp(how, "graph", 5) == 0 ? launch_graph : launch_words)(f, p, q, one));
    launch_words(f, p, q, other);
    const size_t count = csan_races_since(mark, &race, 1);
    printf("traced %d, races %zu%s, %llu bytes at %lld\n", changes().traced, count,
           race.possible ? " possible" : "", (unsigned long long)race.bytes,
           (long long)(race.address - q));
    csan_races_clear();
    return 0;
}

/* ---- Processes ---- */

static void run(const char *how, const char *environment, const char *options)
{
    char command[2048];
    snprintf(command, sizeof command,
             "env -u CUDA_HOME -u CUDA_PATH ASAN_OPTIONS=verify_asan_link_order=0 "
             "LD_LIBRARY_PATH='%s' CSAN_CACHE='%s' %s CSAN_OPTIONS="
             "'symbolize=0:print_summary=1:log_path=stderr:learn_confirm_ms=600000:%s' '%s' '%s' "
             "2>&1",
             GPU ":" TOOLS, directory, environment, options, program_invocation_name, how);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
    assert_int_equal(pclose(pipe), 0);
}

static int forget(void **state)
{
    char command[sizeof directory + 32];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'/*", directory);
    return system(command);
}

static void learn(void)
{
    run("copy", "", "access=learn");
    if (!strstr(output, "traced 4, races 1, 64 bytes at 0\n")) /* 1, 2, 4 and 8 */
        fail_msg("%s", output);
}

static void assert_reported(void)
{
    if (!strstr(output, "traced 0, races 1, 64 bytes at 0\n") ||
        !strstr(output, "learning: 8 launches known from earlier ones, 0 bounded by them, 0 traced "
                        "to learn, 0 waited for those, 0 not learned"))
        fail_msg("%s", output);
}

/* Of what is kept. */
static uint64_t sum(void)
{
    char command[sizeof directory + 64];
    unsigned long long read = 0;
    snprintf(command, sizeof command, "cat '%s'/learned/* | cksum", directory);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%llu", &read), 1);
    pclose(pipe);
    return read;
}

/* ---- Tests ---- */

static const char profiler[] = "LD_PRELOAD=" GPU "/libcupti.so.13";

static void what_is_known_is_used_beside_a_profiler(void **state)
{
    (void)state;
    learn();
    const uint64_t kept = sum();
    run("copy", profiler, "access=auto");
    assert_reported();
    assert_int_equal(sum(), kept); /* nothing was learned */
}

static void nodes_of_graphs_are_reported_as_launches_are(void **state)
{
    (void)state;
    learn();
    const uint64_t kept = sum();
    run("graph", profiler, "access=auto");
    assert_reported();
    assert_int_equal(sum(), kept);
}

static void images_may_lie_anywhere(void **state)
{
    (void)state;
    learn();
    run("object", profiler, "access=auto");
    assert_reported();
    run("file", profiler, "access=auto");
    assert_reported();
}

/* What lies in a loaded object may change all the same. */
static void an_image_is_as_it_was_loaded(void **state)
{
    (void)state;
    run("reused", "", "access=learn");
    run("copy", profiler, "access=auto");
    assert_reported();
    run("reused", profiler, "access=auto");
    assert_reported();
}

static void learning_may_be_given_no_memory(void **state)
{
    (void)state;
    learn();
    run("copy", "", "access=learn:learn_memory_mb=0");
    assert_reported();
}

static void what_is_not_known_is_said_with_why(void **state)
{
    (void)state;
    learn();
    run("another", profiler, "access=auto");
    assert_non_null(strstr(output, "2 not learned (2 of kernels that no earlier process learned)"));
    run("larger", profiler, "access=auto");
    assert_non_null(strstr(output,
                           "2 not learned (2 unlike any launch that earlier processes learned), 2 "
                           "of them bounded by what others of their kernels did"));
    if (!strstr(output, "traced 0, races 1 possible, 512 bytes at 0\n"))
        fail_msg("%s", strstr(output, "traced "));
}

/* Whatever of their parameters kernels read, and when. */
static void all_that_is_known_is_found_again(void **state)
{
    (void)state;
    char number[16], reported[128];
    snprintf(reported, sizeof reported,
             "learning: %d launches known from earlier ones, 0 bounded by them, "
             "0 traced to learn, 0 waited for those, 0 not learned",
             KERNELS * VALUES * TIMES);
    for (int i = 1; i <= 12; i++) {
        forget(state);
        snprintf(number, sizeof number, "%d", i);
        run(number, "", "access=learn");
        if (!strstr(output, " 0 not learned"))
            fail_msg("%s", output);
        run(number, profiler, "access=auto");
        if (!strstr(output, reported) || !strstr(output, "traced 0\n"))
            fail_msg("seed %d: %s", i, output);
    }
}

/* As where the driver compiles PTX into other code by then: what is kept stays. */
static void code_that_knows_less_takes_nothing_away(void **state)
{
    (void)state;
    run("maps", "", "access=learn");
    for (int i = 0; i < 2; i++) {
        run("maps", profiler, "access=auto");
        if (!strstr(output, "6 bounded by them, 0 traced"))
            fail_msg("%d: %s", i, output);
        run("unknown maps", "", "access=learn");
    }
    run("maps", "", "access=learn");
    assert_non_null(strstr(output, ", 0 not learned"));
}

/* Also of the first launch, of which it is not yet known how exact PTX is. */
static void what_ptx_does_not_know_is_reported(void **state)
{
    (void)state;
    run("text", "", "access=learn");
    run("text", profiler, "access=auto");
    if (!strstr(output, "traced 0, races 1 possible, 64 bytes at 0\n") ||
        !strstr(output, "learning: 8 launches known from earlier ones"))
        fail_msg("%s", strstr(output, "csan: "));
}

static const char rests[] = "none was traced, since earlier runs knew this program";

static void a_known_program_is_not_traced(void **state)
{
    (void)state;
    learn();
    run("copy", "", "access=learn");
    assert_reported();
    assert_non_null(strstr(output, rests));
    assert_null(strstr(output, "could not be traced"));
    run("copy", "", "access=learn:learn_every=1");
    assert_null(strstr(output, rests));
    run("file", "", "access=learn"); /* is another, and its launches are known */
    assert_null(strstr(output, rests));
    run("copy", "", "access=auto"); /* so is this */
    assert_null(strstr(output, rests));
}

/* Twice of three times it is not. */
static void a_known_program_is_learned_of_again(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        run("copy", "", "access=learn:learn_every=3");
        assert_int_equal(strstr(output, rests) != NULL, i % 3 != 0);
    }
}

/* It is known as far as others of its kernel show, and traced by the next process. */
static void what_is_new_in_a_known_program_is_learned_next(void **state)
{
    (void)state;
    learn();
    run("copy", "KEPT_HOW=larger", "access=learn");
    assert_non_null(strstr(output, rests));
    assert_non_null(strstr(output, "program, but for 2, so the next run learns again\n"));
    assert_null(strstr(output, "could not be traced"));
    assert_non_null(strstr(output, "traced 0, races 1 possible, 512 bytes at 0\n"));
    for (int i = 0; i < 3; i++) { /* the first is too late to trace one, then two are settled */
        run("copy", "KEPT_HOW=larger", "access=learn");
        assert_null(strstr(output, rests));
    }
    run("copy", "KEPT_HOW=larger", "access=learn");
    assert_non_null(strstr(output, rests));
    assert_non_null(strstr(output, "traced 0, races 1, 64 bytes at 0\n"));
    run("copy", "KEPT_HOW=another", "access=learn");
    assert_non_null(strstr(output, ", but for 2, so"));
}

/* One program in two ways that its arguments do not distinguish: at last both are known. */
static void programs_that_look_alike_are_learned(void **state)
{
    int rested = 0;
    (void)state;
    for (int i = 0; i < 12; i++) {
        run("copy", i % 2 ? "KEPT_HOW=larger" : "", "access=learn");
        if (i % 2 && strstr(output, "races 1, 64 bytes at 0\n"))
            rested += strstr(output, rests) != NULL;
    }
    assert_true(rested > 0);
    assert_null(strstr(output, "but for"));
}

/* In a graph, twice, so that its nodes are not distinguished. */
static void nodes_that_are_never_learned_are_not_new(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        run("copy", "KEPT_HOW=graph_of_two", "access=learn");
        assert_null(strstr(output, "but for"));
    }
}

/* Nothing can be learned of its launches, and in a process that rests they are of a kernel that
 * nobody knows. */
static void what_no_key_can_be_made_of_is_not_new(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        run("copy", "KEPT_HOW=untaught_maps", "access=learn");
        assert_null(strstr(output, rests));
    }
}

static void a_program_on_standard_input_is_not_known(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        run("copy' '-", "", "access=learn");
        assert_null(strstr(output, rests));
        run("copy' '--multiprocessing-fork", "", "access=learn");
        assert_null(strstr(output, rests));
    }
}

/* Wherever it goes before it uses the GPU. */
static void a_program_may_change_its_directory(void **state)
{
    (void)state;
    run("copy", "KEPT_CHANGES_DIRECTORY=1", "access=learn");
    run("copy", "KEPT_CHANGES_DIRECTORY=1", "access=learn");
    assert_non_null(strstr(output, rests));
}

/* A launch of its own, each time, is not known at the end. */
static void a_program_of_single_launches_is_not_known(void **state)
{
    (void)state;
    run("copy", "KEPT_HOW=once", "access=learn:verbosity=1");
    assert_non_null(strstr(output,
                           "csan: launches of 1 kind (one is of kept) are left to learn for "
                           "later runs, those of 0 are known\n"));
    run("copy", "KEPT_HOW=once", "access=learn");
    assert_null(strstr(output, rests));
    run("copy", "KEPT_HOW=once", "access=learn"); /* which was traced twice by now */
    assert_non_null(strstr(output, rests));
}

static void a_changed_script_is_another_program(void **state)
{
    char path[sizeof directory + 16], arguments[sizeof path + 16];
    (void)state;
    snprintf(path, sizeof path, "%s/script", directory);
    snprintf(arguments, sizeof arguments, "copy' '%s", path);
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(path, "a");
        assert_non_null(file);
        assert_true(fputs("# changed\n", file) >= 0);
        assert_int_equal(fclose(file), 0);
        run(arguments, "", "access=learn");
        assert_null(strstr(output, rests));
        run(arguments, "", "access=learn");
        assert_non_null(strstr(output, rests));
    }
}

static void where_nothing_is_kept_all_is_learned(void **state)
{
    char command[sizeof directory + 64];
    (void)state;
    learn();
    snprintf(command, sizeof command, "rm -f '%s'/learned/*.learned", directory);
    assert_int_equal(system(command), 0);
    learn();
    assert_null(strstr(output, rests));
    run("copy", "", "access=learn:learn_cache_mb=0");
    assert_null(strstr(output, rests));
}

static void access_by_ptx_takes_nothing_that_is_kept(void **state)
{
    (void)state;
    learn();
    run("copy", profiler, "access=ptx");
    assert_non_null(strstr(output, "traced 0, races 0"));
    assert_null(strstr(output, "learning:"));
}

static void nothing_is_known_of_what_nobody_learned(void **state)
{
    (void)state;
    run("copy", profiler, "access=auto");
    assert_non_null(strstr(output, "traced 0, races 0"));
    assert_null(strstr(output, "learning:"));
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        const char *own = getenv("KEPT_HOW"), *how = own ? own : argv[1];
        char elsewhere[] = "/tmp/csan-kept-XXXXXX";
        if (getenv("KEPT_CHANGES_DIRECTORY") &&
            (!mkdtemp(elsewhere) || chdir(elsewhere) != 0 || rmdir(elsewhere) != 0))
            return 2;
        controls_find();
        if (strstr(how, "maps"))
            return maps_program(how) || (strcmp(how, "untaught_maps") == 0 && program("copy"));
        return isdigit((unsigned char)*how) ? random_program(how) : program(how);
    }
    gpu_test_start(argv);
    if (!mkdtemp(directory))
        return 1;
#define KEPT(name) cmocka_unit_test_setup(name, forget)
    const struct CMUnitTest tests[] = {
        KEPT(what_is_known_is_used_beside_a_profiler),
        KEPT(nodes_of_graphs_are_reported_as_launches_are),
        KEPT(images_may_lie_anywhere),
        KEPT(an_image_is_as_it_was_loaded),
        KEPT(learning_may_be_given_no_memory),
        KEPT(what_is_not_known_is_said_with_why),
        KEPT(all_that_is_known_is_found_again),
        KEPT(code_that_knows_less_takes_nothing_away),
        KEPT(what_ptx_does_not_know_is_reported),
        KEPT(a_known_program_is_not_traced),
        KEPT(a_known_program_is_learned_of_again),
        KEPT(what_is_new_in_a_known_program_is_learned_next),
        KEPT(a_program_of_single_launches_is_not_known),
        KEPT(programs_that_look_alike_are_learned),
        KEPT(nodes_that_are_never_learned_are_not_new),
        KEPT(what_no_key_can_be_made_of_is_not_new),
        KEPT(a_program_on_standard_input_is_not_known),
        KEPT(a_program_may_change_its_directory),
        KEPT(a_changed_script_is_another_program),
        KEPT(where_nothing_is_kept_all_is_learned),
        KEPT(access_by_ptx_takes_nothing_that_is_kept),
        KEPT(nothing_is_known_of_what_nobody_learned),
    };
    const int failed = cmocka_run_group_tests_name("hook_tracer_kept", tests, NULL, NULL);
    forget(NULL);
    rmdir(directory);
    return hook_finish(failed);
}
