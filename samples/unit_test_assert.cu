// verdict: none
// explore: 66
// output: -
//
// A unit test of code that uses several streams, in plain asserts: any test framework works the
// same way. Take a mark, run the code, ask for the races found since.
//
//     nvcc -g unit_test_assert.cu -I<csan>/include -L<csan>/lib -lcsan -Xlinker -rpath=<csan>/lib
//     CSAN=1 ./a.out
//
// Without csan the same file compiles and runs, and the parts that need it are skipped.

#undef NDEBUG
#include <cassert>
#include <csan/csan.h>
#include "pipeline.h"

static void print_races(const struct csan_race *races, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("%s %s(%s) and %s %s(%s) touch the same %llu bytes\n", races[i].previous.lane,
               races[i].previous.name, races[i].previous.arguments, races[i].current.lane,
               races[i].current.name, races[i].current.arguments,
               (unsigned long long)races[i].bytes);
}

static void test_pipeline_has_no_race(pipeline *p)
{
    uint64_t mark = csan_race_mark();
    pipeline_run(p, true);
    struct csan_race races[4];
    size_t count = csan_races_since(mark, races, 4);
    print_races(races, count < 4 ? count : 4);
    assert(count == 0);
}

// The test of the test: without its wait the same code must be caught.
static void test_missing_wait_is_found(pipeline *p)
{
    uint64_t mark = csan_race_mark();
    pipeline_run(p, false);
    struct csan_race races[4];
    size_t count = csan_races_since(mark, races, 4);
    print_races(races, count < 4 ? count : 4);
    assert(count == 1);
    assert(races[0].kind == CSAN_RACE_DATA);
    assert(races[0].allocation == (uint64_t)(uintptr_t)p->b);
    assert(races[0].bytes == p->n * sizeof(float));
    csan_races_clear(); // it was expected: neither counted nor in the exit code
    assert(csan_race_count() == 0);
}

int main()
{
    pipeline p = pipeline_create(4096);
    if (csan_enabled()) {
        test_pipeline_has_no_race(&p);
        test_missing_wait_is_found(&p);
    }
    pipeline_destroy(&p);
    printf("done\n");
    return 0;
}
