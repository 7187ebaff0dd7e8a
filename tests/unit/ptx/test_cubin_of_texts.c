/* A cubin that is made of texts gives those texts, each as a unit of its own. */
#include "runtime/ptx/cubin_of_texts.h"
#include "runtime/ptx/fatbin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

static void each_text_is_a_unit(void **state)
{
    (void)state;
    const struct cubin_unit units[] = {{HEAD ".visible .entry a()\n{\nret;\n}\n",
                                        sizeof HEAD ".visible .entry a()\n{\nret;\n}\n" - 1},
                                       {HEAD "// b", sizeof HEAD "// b" - 1},
                                       {HEAD, sizeof HEAD - 1}};
    struct fatbin_text *texts;
    size_t bytes, count;
    char message[256];
    void *cubin = cubin_of_texts(units, 3, &bytes);
    assert_non_null(cubin);
    assert_int_equal(fatbin_classify(cubin), FATBIN_IMAGE_ELF);
    assert_int_equal(fatbin_image_bytes(cubin), bytes);
    assert_int_equal(fatbin_texts(cubin, 0, &texts, &count, message, sizeof message), 3);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(texts[i].unit, i);
        assert_non_null(strstr(texts[i].text, ".target sm_90\n"));
    }
    assert_non_null(strstr(texts[0].text, ".visible .entry a()\n{\nret;\n}\n"));
    fatbin_texts_release(texts, count);
    free(cubin);
}

static void no_text_is_no_unit(void **state)
{
    (void)state;
    struct fatbin_text *texts;
    size_t bytes, count;
    char message[256];
    void *cubin = cubin_of_texts(NULL, 0, &bytes);
    assert_non_null(cubin);
    assert_int_equal(fatbin_texts(cubin, bytes, &texts, &count, message, sizeof message), 0);
    free(cubin);
}

static void too_many_are_refused(void **state)
{
    (void)state;
    size_t bytes;
    assert_null(cubin_of_texts(NULL, CUBIN_UNITS_MAX + 1, &bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_text_is_a_unit),
        cmocka_unit_test(no_text_is_no_unit),
        cmocka_unit_test(too_many_are_refused),
    };
    return cmocka_run_group_tests_name("cubin_of_texts", tests, NULL, NULL);
}
