/* Machine code behind images: which of it is taken, from wherever an image lies. */
#include "test_ptx.h"

#include "runtime/hook/image_code.h"
#include "runtime/ptx/fatbin.h"

#include <unistd.h>

/* Of tests/data/ptx/fatbin.cu: a pointer and an int, both of which it reads. */
static const char kernel[] = "_Z5firstPii";
enum { WORDS = 3, CONTAINER_HEADER = 16 };

static char copied[1 << 16];

/* fatbin.none.fatbin, among this program's constants. */
extern const char constant[];
__asm__(".section .rodata\n.balign 16\nconstant:\n.incbin \"" PTX_DATA
        "fatbin.none.fatbin\"\n.previous");

/* An empty one of so many bytes. */
static char *container_of(size_t bytes)
{
    const uint64_t content = bytes - CONTAINER_HEADER;
    char *made = calloc(1, bytes);
    assert_non_null(made);
    memcpy(made, "\x50\xed\x55\xba\1\0\x10\0", 8);
    memcpy(made + 8, &content, sizeof content);
    return made;
}

static bool is_told(struct image_code *code, uint32_t architecture, const char *name)
{
    assert_non_null(code);
    struct reads *reads = image_code_reads(code, architecture, name, WORDS);
    const bool told = reads != NULL;
    if (told)
        assert_int_equal(reads->words, WORDS);
    free(reads);
    return told;
}

/* Of a file, which is gone when it is looked at. */
static struct image_code *of_bytes(const void *data, size_t bytes)
{
    char path[] = "/tmp/csan-image-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, data, bytes), bytes);
    close(file);
    struct image_code *code = image_code_of_file(path);
    unlink(path);
    return code;
}

static bool is_told_for(uint32_t architecture, const char *file)
{
    size_t bytes;
    char *data = data_read(file, &bytes);
    struct image_code *code = image_code_of_data(data);
    memset(data, 0, bytes); /* the program's, which may be gone */
    free(data);
    const bool told = is_told(code, architecture, kernel);
    image_code_release(code);
    return told;
}

static void the_newest_that_the_device_has_is_taken(void **state)
{
    (void)state;
    const char several[] = "fatbin.several.fatbin"; /* sm_75 and sm_90; compute_100 */
    assert_true(is_told_for(90, several));
    assert_true(is_told_for(75, several));
    assert_true(is_told_for(78, several));
    assert_false(is_told_for(72, several));
    assert_false(is_told_for(86, several));
    assert_false(is_told_for(100, several));
}

/* Of tests/data/ptx/alone.cu, for that device: which words of its parameters the kernel reads. */
static uint32_t read_alone(uint32_t architecture)
{
    size_t bytes;
    uint32_t read[1] = {0};
    const uint8_t parameters[4 * WORDS] = {0};
    char *data = data_read("alone.fatbin", &bytes);
    struct image_code *code = image_code_of_data(data);
    free(data);
    assert_non_null(code);
    struct reads *reads = image_code_reads(code, architecture, "kernel", WORDS);
    if (reads)
        reads_given(reads, parameters, sizeof parameters, read);
    free(reads);
    image_code_release(code);
    return read[0] & 7;
}

/* For sm_90 and sm_100f it reads both of its parameters, for sm_90a and sm_100a one. */
static void what_is_for_the_device_alone_goes_first(void **state)
{
    (void)state;
    assert_int_equal(read_alone(90), 3);
    assert_int_equal(read_alone(100), 3);
    assert_int_equal(read_alone(103), 7);
    assert_int_equal(read_alone(110), 0);
}

static void all_kinds_of_images_are_read(void **state)
{
    (void)state;
    assert_true(is_told_for(90, "fatbin.none.fatbin"));
    assert_true(is_told_for(90, "fatbin.size.fatbin"));
    assert_true(is_told_for(90, "fatbin.speed.fatbin"));
    assert_true(is_told_for(90, "fatbin.bare.cubin"));
    assert_false(is_told_for(80, "fatbin.bare.cubin"));
}

static void a_wrapper_leads_to_its_container(void **state)
{
    (void)state;
    static struct fatbin_wrapper wrapper = {FATBIN_WRAPPER_MAGIC, 1, constant, NULL};
    struct image_code *code = image_code_of_data(&wrapper);
    assert_true(is_told(code, 90, kernel));
    image_code_release(code);
}

static void what_is_among_constants_is_read_where_it_is(void **state)
{
    (void)state;
    char *large = container_of(IMAGE_CODE_MOST); /* there is no room for another copy */
    struct image_code *first = image_code_of_data(large), *code = image_code_of_data(constant);
    assert_non_null(first);
    assert_true(is_told(code, 90, kernel));
    image_code_release(code);
    image_code_release(first);
    free(large);
}

/* A program may have one wrapper for all that it loads. */
static void a_wrapper_is_as_it_was(void **state)
{
    (void)state;
    static const char other[CONTAINER_HEADER] = "\x50\xed\x55\xba\1\0\x10";
    struct fatbin_wrapper wrapper = {FATBIN_WRAPPER_MAGIC, 1, constant, NULL};
    struct image_code *code = image_code_of_data(&wrapper);
    wrapper.data = other;
    struct image_code *second = image_code_of_data(&wrapper);
    assert_true(is_told(code, 90, kernel));
    assert_false(is_told(second, 90, kernel));
    image_code_release(second);
    image_code_release(code);
}

static void what_forces_ptx_leaves_machine_code_alone(void **state)
{
    (void)state;
    setenv("CUDA_FORCE_PTX_JIT", "1", 1);
    struct image_code *code = image_code_of_data(constant);
    unsetenv("CUDA_FORCE_PTX_JIT");
    assert_null(code);
}

/* Another object's or none's: what lies in memory that can be written may be something else soon.
 */
static void what_can_be_written_is_copied(void **state)
{
    (void)state;
    size_t bytes;
    char *data = data_read("fatbin.none.fatbin", &bytes);
    assert_in_range(bytes, 1, sizeof copied);
    memcpy(copied, data, bytes);
    free(data);
    struct image_code *code = image_code_of_data(copied);
    memset(copied, 0, sizeof copied);
    assert_true(is_told(code, 90, kernel));
    image_code_release(code);
}

static void a_file_is_read_when_it_is_loaded(void **state)
{
    (void)state;
    size_t bytes;
    char *data = data_read("fatbin.bare.cubin", &bytes);
    struct image_code *code = of_bytes(data, bytes);
    free(data);
    assert_true(is_told(code, 90, kernel));
    image_code_release(code);
    assert_null(image_code_of_file("/nonexistent"));
}

static void another_architecture_is_not_told_later(void **state)
{
    (void)state;
    size_t bytes;
    char *data = data_read("fatbin.several.fatbin", &bytes);
    struct image_code *code = image_code_of_data(data);
    free(data);
    assert_true(is_told(code, 90, kernel));
    assert_false(is_told(code, 75, kernel));
    assert_false(is_told(code, 90, "_Z5thirdPii"));
    image_code_release(code);
}

/* Nobody knows which of the two the driver takes. */
static void a_kernel_that_is_there_twice_is_not_told(void **state)
{
    (void)state;
    size_t bytes;
    uint64_t entries;
    char *data = data_read("fatbin.none.fatbin", &bytes);
    memcpy(&entries, data + 8, sizeof entries);
    assert_int_equal(bytes, CONTAINER_HEADER + entries);
    char *twice = malloc(bytes + entries);
    assert_non_null(twice);
    memcpy(twice, data, bytes);
    memcpy(twice + bytes, data + CONTAINER_HEADER, entries);
    entries *= 2;
    memcpy(twice + 8, &entries, sizeof entries);
    struct image_code *code = image_code_of_data(twice);
    assert_false(is_told(code, 90, kernel));
    image_code_release(code);
    free(twice);
    free(data);
}

static void what_is_no_machine_code_is_not_kept(void **state)
{
    (void)state;
    char *text = strdup(".version 8.0\n.target sm_90\n.address_size 64\n"),
         *nothing = calloc(1, 64);
    assert_null(image_code_of_data(text));
    assert_null(image_code_of_data(nothing));
    assert_null(image_code_of_data(NULL));
    assert_null(image_code_of_file(NULL));
    assert_null(of_bytes(text, strlen(text)));
    assert_null(of_bytes("                ", 16));
    assert_null(of_bytes(&(struct fatbin_wrapper){FATBIN_WRAPPER_MAGIC, 1, text, NULL},
                         sizeof(struct fatbin_wrapper)));
    image_code_release(NULL);
    assert_null(image_code_retain(NULL));
    free(text);
    free(nothing);
}

/* Whatever is left of it. */
static void damaged_images_are_read_as_far_as_they_go(void **state)
{
    (void)state;
    size_t bytes;
    char *data = data_read("fatbin.bare.cubin", &bytes);
    for (size_t at = 0; at < bytes; at += at < 64 ? 1 : 61) {
        char *damaged = malloc(bytes);
        assert_non_null(damaged);
        memcpy(damaged, data, bytes);
        damaged[at] ^= 0x55;
        struct image_code *code =
            of_bytes(damaged, bytes); /* in memory its length is its own word */
        free(damaged);
        if (code)
            is_told(code, 90, kernel);
        image_code_release(code);
    }
    free(data);
}

static void copies_have_no_more_than_their_room(void **state)
{
    (void)state;
    char *large = container_of(IMAGE_CODE_MOST / 2 + 4096);
    struct image_code *first = image_code_of_data(large);
    assert_non_null(first);
    assert_null(image_code_of_data(large));
    assert_false(is_told(first, 90, kernel)); /* it was looked at, and goes */
    struct image_code *second = image_code_of_data(large);
    assert_non_null(second);
    image_code_release(second);
    second = image_code_of_data(large);
    assert_non_null(second);
    image_code_release(second);
    image_code_release(first);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_that_the_device_has_is_taken),
        cmocka_unit_test(what_is_for_the_device_alone_goes_first),
        cmocka_unit_test(all_kinds_of_images_are_read),
        cmocka_unit_test(a_wrapper_leads_to_its_container),
        cmocka_unit_test(what_is_among_constants_is_read_where_it_is),
        cmocka_unit_test(what_can_be_written_is_copied),
        cmocka_unit_test(a_wrapper_is_as_it_was),
        cmocka_unit_test(what_forces_ptx_leaves_machine_code_alone),
        cmocka_unit_test(a_file_is_read_when_it_is_loaded),
        cmocka_unit_test(another_architecture_is_not_told_later),
        cmocka_unit_test(a_kernel_that_is_there_twice_is_not_told),
        cmocka_unit_test(what_is_no_machine_code_is_not_kept),
        cmocka_unit_test(damaged_images_are_read_as_far_as_they_go),
        cmocka_unit_test(copies_have_no_more_than_their_room),
    };
    return cmocka_run_group_tests_name("image_code", tests, NULL, NULL);
}
