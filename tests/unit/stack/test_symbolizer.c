/* Addresses to lines, through the real helper process; and helpers that are missing or misbehave.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/options.h"
#include "csan/stack/symbolizer.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char scratch[64];
static struct options options;

struct seen {
    int count;
    size_t index[16];
    char function[16][128], file[16][256], module[16][256];
    unsigned line[16];
};

static void keep(void *user, size_t index, const struct symbol_frame *frame)
{
    struct seen *seen = user;
    if (seen->count == 16)
        return;
    int i = seen->count++;
    seen->index[i] = index;
    seen->line[i] = frame->line;
    snprintf(seen->function[i], 128, "%s", frame->function ? frame->function : "");
    snprintf(seen->file[i], 256, "%s", frame->file ? frame->file : "");
    snprintf(seen->module[i], 256, "%s", frame->module ? frame->module : "");
}

static struct symbolizer *with_helper(const char *path)
{
    options_default(&options);
    snprintf(options.external_symbolizer_path, sizeof(options.external_symbolizer_path), "%s",
             path);
    struct symbolizer *symbolizer = symbolizer_create(&options);
    assert_non_null(symbolizer);
    return symbolizer;
}

/* The csan command of the build this test belongs to: DIR/bin/csan for DIR/tests/unit/THIS. */
static const char *real_helper(void)
{
    static char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 32);
    assert_true(length > 0);
    path[length] = '\0';
    strcpy(strrchr(path, '/'), "/../../bin/csan");
    return path;
}

static struct seen resolve(struct symbolizer *symbolizer, const void *address)
{
    struct seen seen = {0};
    symbolizer->frames(symbolizer, &address, 1, keep, &seen);
    return seen;
}

/* A script in the scratch directory, and its path. */
static const char *script(const char *name, const char *text)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", scratch, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", text);
    fclose(file);
    assert_int_equal(chmod(path, 0755), 0);
    return path;
}

/* ---- the real helper */

static unsigned call_line;
static __attribute__((noinline)) const void *return_address(void)
{
    const void *address = __builtin_return_address(0);
    __asm__ volatile("" ::: "memory");
    return address;
}
static __attribute__((noinline)) const void *here(void)
{
    call_line = __LINE__ + 1;
    const void *address = return_address();
    __asm__ volatile("" ::: "memory");
    return address;
}

static void own_function_and_line(void **state)
{
    (void)state;
    struct symbolizer *symbolizer = with_helper(real_helper());
    struct seen seen = resolve(symbolizer, here());
    assert_true(seen.count >= 1);
    assert_string_equal(seen.function[0], "here");
    assert_int_equal(seen.line[0], call_line);
    assert_non_null(strstr(seen.file[0], "tests/unit/stack/test_symbolizer.c"));
    assert_null(symbolizer->trouble(symbolizer));
    symbolizer->destroy(symbolizer);
}

/* Line numbers count from this text's first line. */
static const char cxx_source[] =
    "namespace shapes {\n"
    "template <class T> struct Box {\n"
    "    __attribute__((noinline)) static const void *where(T)\n"
    "    { const void *a = __builtin_return_address(0); __asm__ volatile(\"\" ::: \"memory\"); "
    "return a; }\n"
    "};\n"
    "inline __attribute__((always_inline)) const void *\n"
    "inlined(int n)\n"
    "{\n"
    "    const void *a = Box<int>::where(n);\n" /* 9 */
    "    __asm__ volatile(\"\" ::: \"memory\"); return a;\n"
    "}\n"
    "__attribute__((noinline)) const void *outer(double)\n"
    "{\n"
    "    const void *a = inlined(3);\n" /* 14 */
    "    __asm__ volatile(\"\" ::: \"memory\"); return a;\n"
    "}\n"
    "}\n"
    "extern \"C\" const void *probe(void) { return shapes::outer(1.0); }\n";

/* A C++ library made on the spot; NULL when there is no compiler. */
static void *cxx_library(void)
{
    char command[512], path[128];
    snprintf(path, sizeof(path), "%s/shapes.cc", scratch);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(cxx_source, file);
    fclose(file);
    snprintf(command, sizeof(command),
             "g++ -g -O2 -fno-optimize-sibling-calls -shared -fPIC %s -o %s/shapes.so", path,
             scratch);
    if (system(command) != 0)
        return NULL;
    snprintf(path, sizeof(path), "%s/shapes.so", scratch);
    return dlopen(path, RTLD_NOW);
}

static void cxx_names_and_inlined_callers(void **state)
{
    (void)state;
    void *library = cxx_library();
    if (!library)
        skip();
    const void *(*probe)(void) = (const void *(*)(void))dlsym(library, "probe");
    struct symbolizer *symbolizer = with_helper(real_helper());
    const void *address = probe();
    struct seen seen = resolve(symbolizer, address);
    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.function[0], "shapes::inlined(int)");
    assert_int_equal(seen.line[0], 9);
    assert_string_equal(seen.function[1], "shapes::outer(double)");
    assert_int_equal(seen.line[1], 14);
    assert_int_equal(seen.index[1], 0);
    assert_non_null(strstr(seen.file[1], "shapes.cc"));

    dlclose(library);
    seen = resolve(symbolizer, address);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.module[0], ""); /* nothing is loaded there any more */
    assert_string_equal(seen.function[0], "");
    symbolizer->destroy(symbolizer);
}

static void kernel_names(void **state)
{
    (void)state;
    struct symbolizer *symbolizer = with_helper(real_helper());
    static const char *const names[][2] = {
        {"_Z5scalePffi", "scale(float*, float, int)"},
        {"_Z4axpyIdEvPT_PKS0_S0_i", "void axpy<double>(double*, double const*, double, int)"},
        {"driver_fill", "driver_fill"},
        {"_Znonsense", "_Znonsense"},
        {"", ""},
    };
    char text[128];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        symbolizer->demangle(symbolizer, names[i][0], text, sizeof(text));
        assert_string_equal(text, names[i][1]);
    }
    symbolizer->demangle(symbolizer, names[0][0], text, 6);
    assert_string_equal(text, "scale");
    symbolizer->destroy(symbolizer);
}

static void many_questions_at_once(void **state)
{
    (void)state;
    struct symbolizer *symbolizer = with_helper(real_helper());
    const void *address = here(), *frames[64];
    for (int i = 0; i < 64; i++)
        frames[i] = i % 3 == 2 ? (const void *)(uintptr_t)(i + 1) : address;
    struct seen seen = {0};
    symbolizer->frames(symbolizer, frames, 15, keep, &seen);
    for (int i = 0; i < 15; i++) {
        assert_int_equal(seen.index[i], i);
        assert_string_equal(seen.function[i], i % 3 == 2 ? "" : "here");
    }
    symbolizer->destroy(symbolizer);
}

/* Copies of this program, cut short and with holes: each is a module of the questions below. */
static void damaged_modules(void **state)
{
    (void)state;
    enum { COPIES = 24 };
    char command[4096 + 512], line[256];
    snprintf(command, sizeof(command),
             "cd %s && size=$(stat -Lc %%s /proc/%d/exe) && i=0 && while [ $i -lt %d ]; do"
             "  if [ $((i %% 2)) = 0 ]; then head -c $((size * i / %d)) /proc/%d/exe >m$i;"
             "  else cp /proc/%d/exe m$i; dd if=/usr/bin/env of=m$i bs=1 skip=$((i * 131)) count=64"
             "    seek=$((i * 997 %% size)) conv=notrunc 2>/dev/null; fi;"
             "  echo frame 2000 $PWD/m$i; echo frame ffffffffffffffff $PWD/m$i; i=$((i + 1));"
             "done >questions; printf 'frame\\nframe zz\\nframe 10\\nframe 10 /dev/zero\\n\\n"
             "nonsense\\ndemangle\\ndemangle _Z5scalePffi\\n' >>questions;"
             " %s symbolize <questions",
             scratch, (int)getpid(), COPIES, COPIES, (int)getpid(), (int)getpid(), real_helper());
    FILE *answers = popen(command, "r");
    assert_non_null(answers);
    char last[256] = "";
    while (fgets(line, sizeof(line), answers))
        strcpy(last, line);
    pclose(answers);
    assert_string_equal(last, "scale(float*, float, int)\n");
}

/* The program may wait for its children as it likes: it never gets ours. */
static void the_program_sees_no_child(void **state)
{
    (void)state;
    struct symbolizer *symbolizer = with_helper(real_helper());
    resolve(symbolizer, here());
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    symbolizer->destroy(symbolizer);
}

static void closed_standard_descriptors(void **state)
{
    (void)state;
    int saved[3];
    struct seen seen;
    for (int i = 0; i < 3; i++) {
        saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
        close(i);
    }
    struct symbolizer *symbolizer = with_helper(real_helper());
    seen = resolve(symbolizer, here());
    int taken = fcntl(0, F_GETFD) >= 0 || fcntl(1, F_GETFD) >= 0 || fcntl(2, F_GETFD) >= 0;
    symbolizer->destroy(symbolizer);
    for (int i = 0; i < 3; i++) {
        dup2(saved[i], i);
        close(saved[i]);
    }
    assert_string_equal(seen.function[0], "here");
    assert_false(taken);
}

static void environment_of_the_helper(void **state)
{
    (void)state;
    char text[512], path[128];
    snprintf(path, sizeof(path), "%s/environment", scratch);
    snprintf(text, sizeof(text), "env >%s; echo csan-symbolize 1", path);
    const char *helper = script("env", text);
    setenv("CSAN", "1", 1);
    setenv("CSAN_OPTIONS", "verbosity=1", 1);
    setenv("CSAN_TEST_KEPT", "no", 1);
    setenv("TEST_KEPT", "yes", 1);
    struct symbolizer *symbolizer = with_helper(helper);
    resolve(symbolizer, here());
    symbolizer->destroy(symbolizer);
    unsetenv("CSAN");
    unsetenv("CSAN_OPTIONS");
    snprintf(text, sizeof(text),
             "grep -q '^TEST_KEPT=yes' %s && ! grep -Eq '^(CSAN|LD_PRELOAD)' %s", path, path);
    assert_int_equal(system(text), 0);
}

/* ---- no helper, or a bad one */

static void expect_bare(struct symbolizer *symbolizer, const char *said)
{
    char text[64];
    struct seen seen = resolve(symbolizer, here());
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.function[0], "");
    assert_non_null(strstr(seen.module[0], "test_symbolizer"));
    symbolizer->demangle(symbolizer, "_Z5scalePffi", text, sizeof(text));
    assert_string_equal(text, "_Z5scalePffi");
    const char *trouble = symbolizer->trouble(symbolizer);
    if (said) {
        assert_non_null(trouble);
        if (!strstr(trouble, said))
            fail_msg("said: %s", trouble);
    }
    assert_null(symbolizer->trouble(symbolizer)); /* once */
    symbolizer->destroy(symbolizer);
}

static void missing(void **state)
{
    (void)state;
    expect_bare(with_helper("/no/such/helper"), "cannot be started: No such file");
}

static void not_a_program(void **state)
{
    (void)state;
    expect_bare(with_helper(scratch), "cannot be started");
}

static void ends_at_once(void **state)
{
    (void)state;
    expect_bare(with_helper("/bin/true"), "has ended");
}

static void another_program(void **state)
{
    (void)state;
    expect_bare(with_helper("/bin/echo"), "no csan command of this version");
}

static void ends_after_the_greeting(void **state)
{
    (void)state;
    expect_bare(with_helper(script("dies", "echo csan-symbolize 1")), "has ended");
}

static void ends_in_an_answer(void **state)
{
    (void)state;
    const char *helper =
        script("half", "( echo csan-symbolize 1; read line; printf half ) & exec >&- <&-");
    expect_bare(with_helper(helper), "has ended");
}

static void never_stops_talking(void **state)
{
    (void)state;
    expect_bare(with_helper(script("zero", "exec cat /dev/zero")), "no sensible answers");
}

static void *hurry_soon(void *symbolizer)
{
    usleep(200000); /* by then the other thread waits for an answer, but for a very slow machine */
    ((struct symbolizer *)symbolizer)->hurry(symbolizer);
    return NULL;
}

/* At the end of the program nobody waits the ten seconds that an answer may take. */
static void is_hurried_by_another_thread(void **state)
{
    (void)state;
    pthread_t thread;
    struct symbolizer *symbolizer =
        with_helper(script("mute", "( echo csan-symbolize 1; exec sleep 5 ) & exec >&- <&-"));
    assert_int_equal(pthread_create(&thread, NULL, hurry_soon, symbolizer), 0);
    resolve(symbolizer, here());
    pthread_join(thread, NULL);
    expect_bare(symbolizer, "too slow at the end of the program");
}

static void switched_off(void **state)
{
    (void)state;
    options_default(&options);
    options.symbolize = 0;
    expect_bare(symbolizer_create(&options), NULL);
}

static void its_socket_is_closed_by_the_program(void **state)
{
    (void)state;
    struct symbolizer *symbolizer = with_helper(real_helper());
    assert_string_equal(resolve(symbolizer, here()).function[0], "here");
    char path[128];
    snprintf(path, sizeof(path), "%s/victim", scratch);
    for (int descriptor = 3; descriptor < 64; descriptor++) {
        struct stat status;
        if (fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode)) {
            int victim = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
            dup2(victim, descriptor);
            close(victim);
        }
    }
    expect_bare(symbolizer, "closed its socket");
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 0);
}

static void a_forked_child_does_not_talk(void **state)
{
    (void)state;
    struct symbolizer *symbolizer = with_helper(real_helper());
    assert_string_equal(resolve(symbolizer, here()).function[0], "here");
    pid_t child = fork();
    if (child == 0)
        _exit(resolve(symbolizer, here()).function[0][0] == '\0' ? 0 : 1);
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_string_equal(resolve(symbolizer, here()).function[0], "here");
    symbolizer->destroy(symbolizer);
}

static int scratch_make(void **state)
{
    (void)state;
    strcpy(scratch, "/tmp/csan-symbolizer-XXXXXX");
    return mkdtemp(scratch) ? 0 : -1;
}

static int scratch_remove(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", scratch);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_function_and_line),
        cmocka_unit_test(cxx_names_and_inlined_callers),
        cmocka_unit_test(kernel_names),
        cmocka_unit_test(many_questions_at_once),
        cmocka_unit_test(damaged_modules),
        cmocka_unit_test(the_program_sees_no_child),
        cmocka_unit_test(closed_standard_descriptors),
        cmocka_unit_test(environment_of_the_helper),
        cmocka_unit_test(missing),
        cmocka_unit_test(not_a_program),
        cmocka_unit_test(ends_at_once),
        cmocka_unit_test(another_program),
        cmocka_unit_test(ends_after_the_greeting),
        cmocka_unit_test(ends_in_an_answer),
        cmocka_unit_test(never_stops_talking),
        cmocka_unit_test(is_hurried_by_another_thread),
        cmocka_unit_test(switched_off),
        cmocka_unit_test(its_socket_is_closed_by_the_program),
        cmocka_unit_test(a_forked_child_does_not_talk),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
