/* What a report says of an allocation that failed: whose memory it was that lacked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "csan/report/out_of_memory_text.h"
#include <string.h>

#define GiB ((uint64_t)1 << 30)

static void expect(const struct csan_out_of_memory *out_of_memory, const char *cause,
                   const char *fix)
{
    struct text text = {0};
    out_of_memory_cause_add(&text, out_of_memory);
    if (!strstr(text.data, cause))
        fail_msg("cause: %s", text.data);
    text_free(&text);
    text = (struct text){0};
    out_of_memory_fix_add(&text, out_of_memory);
    if (!strstr(text.data, fix))
        fail_msg("fix: %s", text.data);
    text_free(&text);
}

static void causes(void **state)
{
    (void)state;
    struct csan_out_of_memory s = {
        .asked = 8 * GiB, .free = GiB, .total = 80 * GiB, .own = 70 * GiB, .others = 9 * GiB};
    expect(&s, "this process holds", "free earlier");
    s.reserved = 20 * GiB;
    s.allocated = 15 * GiB; /* what is left of it would not have been enough */
    expect(&s, "this process holds", "free earlier");
    s.allocated = 12 * GiB;
    expect(&s, "a pool has enough memory", "expandable_segments");
    s.unused = 7 * GiB;
    expect(&s, "the device's memory pool keeps", "cudaMemPoolTrimTo");
    s = (struct csan_out_of_memory){
        .asked = 8 * GiB, .free = GiB, .total = 80 * GiB, .own = 9 * GiB, .others = 70 * GiB};
    expect(&s, "not of this process", "nvidia-smi");
    s.free = 9 * GiB;
    expect(&s, "there is enough free memory", "large memory first");
    s.asked = 81 * GiB;
    expect(&s, "more than the device has", "check the size");
    s.host = 1;
    expect(&s, "the host's memory", "pin less");
    s = (struct csan_out_of_memory){.asked = 8 * GiB, .own = GiB}; /* the driver did not say */
    expect(&s, "this process holds", "free earlier");
}

static void headline(const struct csan_out_of_memory *out_of_memory, const char *expected)
{
    struct text text = {0};
    out_of_memory_asked_add(&text, out_of_memory);
    assert_string_equal(text.data, expected);
    text_free(&text);
}

static void headlines(void **state)
{
    (void)state;
    struct csan_out_of_memory s = {.asked = 1, .free = 1023, .total = 80 * GiB};
    headline(&s, "asked for 1 byte where 1023 bytes of 80.0 GiB were free");
    s.asked = 3 * GiB / 2;
    s.host = 1;
    headline(&s, "asked for 1.5 GiB");
    s = (struct csan_out_of_memory){.asked = UINT64_MAX};
    headline(&s, "asked for 16777216.0 TiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(causes), cmocka_unit_test(headlines)};
    return cmocka_run_group_tests_name("out_of_memory_text", tests, NULL, NULL);
}
