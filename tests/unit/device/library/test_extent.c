/* What csan's own cuBLAS accesses, against what the hooks say that the same calls touch: the same
 * bytes, over random arguments of every function. Both come from library.table by functions of
 * their own. And what is checked when a call is made. */
#include "runtime/device/library/extent.h"
#include "runtime/hook/library/touch.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/state/known_contents.h"
#include "tests/unit/hook/no_collectives.h"

#include <csan/detector.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Each argument has an area of device memory. It begins with addresses into itself, so that it can
 * be an array of addresses as well. */
enum { AREAS = EXTENT_ARGUMENTS, BYTES = 1 << 15, ADDRESSES = 8, STEP = 2048, ROUNDS = 40 };
static const uint64_t base = 0x100000000;
static _Alignas(16) unsigned char memory[AREAS][BYTES];
static unsigned char accessed[AREAS][BYTES], touched[AREAS][BYTES]; /* 1: read, 2: written */
static int on_device;

static uint64_t area(int number)
{
    return base + (uint64_t)number * BYTES + BYTES / 4;
}

static void mark(unsigned char (*to)[BYTES], uint64_t address, uint64_t bytes, bool writes)
{
    for (uint64_t i = 0; i < bytes; i++) {
        const uint64_t at = address + i - base;
        assert_true(at < sizeof memory);
        to[at / BYTES][at % BYTES] |= writes ? 2 : 1;
    }
}

/* ---- What surrounds both ---- */

void *device_native_runs(struct device_native *native, uint64_t address, uint64_t bytes,
                         uint64_t count, int64_t stride, enum device_native_access access)
{
    (void)native;
    for (uint64_t i = 0; i < count; i++)
        mark(accessed, address + i * (uint64_t)stride, bytes, access == DEVICE_NATIVE_WRITE);
    return (unsigned char *)memory + (address - base);
}

bool known_contents_read(uint64_t address, uint32_t bytes, void *to)
{
    memcpy(to, (unsigned char *)memory + (address - base), bytes);
    return true;
}

static csan_context *detector;
csan_context *session_context(void)
{
    return detector;
}

static int answer_mode(void *handle, int *mode)
{
    (void)handle;
    *mode = on_device;
    return 0;
}
void *library_ask(struct library_home *home, enum library_question question)
{
    (void)home;
    return question == LIBRARY_POINTER_MODE ? (void *)answer_mode : NULL;
}

/* What the generated code refers to. */
void collective_group_start(struct touch *call, int result);
void collective_group_start(struct touch *call, int result)
{
    (void)call, (void)result;
}
void collective_group_end(struct touch *call, int result);
void collective_group_end(struct touch *call, int result)
{
    (void)call, (void)result;
}
int cublas_call(uint32_t number, const uint64_t *registers, const uint64_t *stack);
int cublas_call(uint32_t number, const uint64_t *registers, const uint64_t *stack)
{
    (void)number, (void)registers, (void)stack;
    return 0;
}

/* ---- Random calls ---- */

static uint64_t random_state = 1;
static int random_below(int limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int)((random_state >> 33) % (uint64_t)limit);
}

static _Alignas(16) unsigned char host[EXTENT_ARGUMENTS][EXTENT_SCALAR_BYTES];

static bool is_scalar(const char *name)
{
    static const char *const names[] = {"alpha", "beta", "result", "param", "c",  "s",
                                        "a",     "b",    "d1",     "d2",    "x1", "y1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static int64_t random_number(const char *name)
{
    static const int types[] = {0, 1, 2, 4, 5, 14};
    const size_t length = strlen(name);
    if (strncmp(name, "trans", 5) == 0)
        return random_below(3);
    if (strcmp(name, "uplo") == 0 || strcmp(name, "side") == 0 || strcmp(name, "diag") == 0 ||
        strcmp(name, "mode") == 0)
        return random_below(2);
    if (strcmp(name, "computeType") == 0)
        return random_below(2) ? 68 : 70;
    if (length >= 4 && strcmp(name + length - 4, "Type") == 0)
        return types[random_below(6)];
    if (length == 5 && strcmp(name + 1, "type") == 0)
        return types[random_below(6)];
    if (strncmp(name, "ld", 2) == 0)
        return 12;
    if (strncmp(name, "inc", 3) == 0)
        return random_below(7) - 3;
    if (strncmp(name, "stride", 6) == 0)
        return random_below(40);
    return random_below(5);
}

static void arguments_make(const struct extent_function *function, uint64_t *arguments)
{
    for (int i = 0; function->arguments[i]; i++) {
        const char *name = function->arguments[i];
        if (function->kinds[i] != 'p')
            arguments[i] = (uint64_t)random_number(name) &
                           (function->kinds[i] == '4' ? UINT32_MAX : UINT64_MAX);
        else if (!on_device && is_scalar(name)) {
            memset(host[i], random_below(3) ? 0x3f : 0, sizeof host[i]);
            arguments[i] = (uintptr_t)host[i];
        } else
            arguments[i] = area(i);
    }
}

static const struct library_function *function_named(const char *symbol)
{
    for (unsigned i = 0; i < library_function_count; i++)
        if (strcmp(library_functions[i].symbol, symbol) == 0)
            return &library_functions[i];
    return NULL;
}

static void mark_range(const struct csan_access *access, uint64_t at, uint8_t dim)
{
    if (dim == access->dim_count) {
        mark(touched, at, access->bytes, access->kind != CSAN_READ);
        return;
    }
    for (uint64_t i = 0; i < access->dims[dim].count; i++)
        mark_range(access, at + i * (uint64_t)access->dims[dim].stride, dim + 1);
}

static void collect_touched(const char *symbol, const uint64_t *arguments)
{
    static struct touch call;
    touch_collect(&call, function_named(symbol), NULL, arguments, arguments + TOUCH_REGISTERS);
    for (size_t i = 0; i < call.count; i++)
        mark_range(&call.accesses[i], call.accesses[i].base, 0);
    touch_release(&call);
}

static bool collect_accessed(const struct extent_function *function, const uint64_t *arguments)
{
    struct extent_scalars scalars;
    struct extent call = {
        .function = function, .arguments = arguments, .on_device = on_device, .scalars = &scalars};
    extent_evaluate(&call);
    if (call.wrong)
        return false;
    struct extent run = call;
    memset(run.places, 0, sizeof run.places);
    run.native = (struct device_native *)memory; /* anything */
    extent_evaluate(&run);
    assert_false(run.wrong);
    return true;
}

static void compare(const struct extent_function *function)
{
    uint64_t arguments[32] = {0};
    memset(accessed, 0, sizeof accessed);
    memset(touched, 0, sizeof touched);
    arguments_make(function, arguments);
    if (!collect_accessed(function, arguments))
        return;
    collect_touched(function->symbol, arguments);
    if (memcmp(accessed, touched, sizeof touched) != 0)
        fail_msg("%s accesses other bytes than the hooks say", function->symbol);
}

static void every_function_accesses_what_the_hooks_say(void **state)
{
    (void)state;
    for (int i = 0; i < AREAS; i++)
        for (int k = 0; k < ADDRESSES; k++) {
            const uint64_t address = area(i) + BYTES / 4 + (uint64_t)k * STEP / 4;
            memcpy(&memory[i][BYTES / 4 + k * 8], &address, sizeof address);
        }
    for (int i = 0; strcmp(extent_functions[i].symbol, "cublasSetVector") != 0; i++)
        for (int round = 0; round < ROUNDS; round++) {
            on_device = round % 2;
            compare(&extent_functions[i]);
        }
}

/* ---- Checks at the call ---- */

static void wrong_leading_dimensions_are_refused(void **state)
{
    struct extent_scalars scalars;
    uint64_t arguments[32] = {0};
    int i = 0;
    (void)state;
    while (strcmp(extent_functions[i].symbol, "cublasSgemm_v2") != 0)
        i++;
    const struct extent_function *function = &extent_functions[i];
    on_device = 1;
    arguments_make(function, arguments);
    arguments[extent_argument(function, "m")] = 4;
    struct extent call = {
        .function = function, .arguments = arguments, .on_device = true, .scalars = &scalars};
    extent_evaluate(&call);
    assert_false(call.wrong);
    arguments[extent_argument(function, "ldc")] = 3;
    extent_evaluate(&call);
    assert_true(call.wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_accesses_what_the_hooks_say),
        cmocka_unit_test(wrong_leading_dimensions_are_refused),
    };
    detector = csan_context_create(NULL, NULL, NULL, NULL, 0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    csan_context_destroy(detector);
    return failed;
}
