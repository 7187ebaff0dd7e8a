/* Identities of images: equal for equal bytes wherever they lie, and for no others. */
#include "runtime/hook/kernel/identity.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static bool equal(struct learn_image a, struct learn_image b)
{
    return a.words[0] == b.words[0] && a.words[1] == b.words[1];
}

static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n";

static void text_is_identified_by_its_bytes(void **state)
{
    (void)state;
    char copy[sizeof text + 1];
    memcpy(copy, text, sizeof text);
    struct learn_image image = identity_of_data(text, 0);
    assert_true(identity_is_known(image));
    assert_true(equal(image, identity_of_data(copy, 0)));
    copy[10]++;
    assert_false(equal(image, identity_of_data(copy, 0)));
}

/* A cubin of two sections, of which the headers lie last. */
struct cubin {
    Elf64_Ehdr head;
    char code[64];
    Elf64_Shdr sections[2];
    char behind[16];
};

static struct cubin cubin(void)
{
    struct cubin made = {
        .head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64},
                 .e_shentsize = sizeof(Elf64_Shdr),
                 .e_shnum = 2,
                 .e_shoff = offsetof(struct cubin, sections)},
        .sections = {
            {.sh_type = SHT_NULL},
            {.sh_type = SHT_PROGBITS, .sh_offset = offsetof(struct cubin, code), .sh_size = 64}}};
    return made;
}

static void machine_code_is_identified_by_its_bytes_and_no_more(void **state)
{
    (void)state;
    struct cubin first = cubin(), second = cubin();
    struct learn_image image = identity_of_data(&first, 0);
    assert_true(identity_is_known(image));
    second.behind[3] = 1; /* not the cubin's */
    assert_true(equal(image, identity_of_data(&second, 0)));
    second.code[63] = 1;
    assert_false(equal(image, identity_of_data(&second, 0)));
}

static void a_file_is_identified_as_its_bytes_are(void **state)
{
    (void)state;
    char path[] = "/tmp/csan-identity-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, sizeof text - 1), sizeof text - 1);
    close(file);
    assert_true(equal(identity_of_file(path), identity_of_data(text, 0)));
    unlink(path);
    assert_false(identity_is_known(identity_of_file(path)));
}

static void devices_and_sources_are_distinguished(void **state)
{
    (void)state;
    struct learn_image image = identity_of_data(text, 0), none = {{0}};
    assert_false(equal(identity_on_device(image, "a", 9, 0), identity_on_device(image, "b", 9, 0)));
    assert_false(equal(identity_on_device(image, "a", 9, 0), identity_on_device(image, "a", 8, 9)));
    assert_true(equal(identity_on_device(image, "a", 9, 0), identity_on_device(image, "a", 9, 0)));
    assert_false(identity_is_known(identity_on_device(none, "a", 9, 0)));
}

static void nonsense_has_none(void **state)
{
    (void)state;
    char zeros[64] = {0};
    struct cubin damaged = cubin();
    damaged.head.e_shoff = UINT64_MAX;
    assert_false(identity_is_known(identity_of_data(NULL, 0)));
    assert_false(identity_is_known(identity_of_data(zeros, 0)));
    assert_false(identity_is_known(identity_of_data(&damaged, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_identified_by_its_bytes),
        cmocka_unit_test(machine_code_is_identified_by_its_bytes_and_no_more),
        cmocka_unit_test(a_file_is_identified_as_its_bytes_are),
        cmocka_unit_test(devices_and_sources_are_distinguished),
        cmocka_unit_test(nonsense_has_none),
    };
    return cmocka_run_group_tests_name("identity", tests, NULL, NULL);
}
