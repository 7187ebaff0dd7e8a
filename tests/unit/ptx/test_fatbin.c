/* Fat binaries as nvcc writes them, in every compression mode, whole and damaged. */
#include "tests/unit/ptx/test_ptx.h"

#include "runtime/ptx/fatbin.h"

struct counted {
    int ptx, elf, other;
    enum fatbin_compression compression; /* of the PTX */
    uint32_t archs[8];
};

static bool count_entry(void *user, const struct fatbin_entry *entry)
{
    struct counted *c = user;
    if (entry->kind == FATBIN_PTX) {
        c->compression = entry->compression;
        c->archs[c->ptx++ & 7] = entry->arch;
    } else if (entry->kind == FATBIN_ELF) {
        c->elf++;
    } else {
        c->other++;
    }
    return true;
}

static void assert_is_ours(const struct fatbin_text *text)
{
    struct ptx_error error;
    struct ptx_module *module = ptx_parse(text->text, text->bytes, &error);
    if (!module)
        fail_msg("%s", error.message);
    assert_int_equal(strlen(text->text), text->bytes);
    assert_non_null(ptx_module_function(module, "_Z5firstPii"));
    assert_non_null(ptx_module_function(module, "_Z6secondPff"));
    assert_int_equal(module->target, text->arch);
    ptx_module_release(module);
}

static void check_mode(const char *file, enum fatbin_compression compression)
{
    size_t bytes, count;
    char message[256];
    struct counted c = {0};
    struct fatbin_text *texts;
    char *data = data_read(file, &bytes);
    assert_int_equal(fatbin_classify(data), FATBIN_IMAGE_CONTAINER);
    assert_int_equal(fatbin_image_bytes(data), bytes);
    assert_int_equal(fatbin_entries(data, bytes, count_entry, &c, message, sizeof message), 0);
    assert_int_equal(c.ptx, 1);
    assert_int_equal(c.elf, 1);
    assert_int_equal(c.archs[0], 90);
    assert_int_equal(c.compression, compression);
    /* with the length known and unknown */
    for (size_t limit = 0; limit <= bytes; limit += bytes) {
        assert_int_equal(fatbin_texts(data, limit, &texts, &count, message, sizeof message), 1);
        assert_int_equal(count, 1);
        assert_is_ours(&texts[0]);
        fatbin_texts_release(texts, count);
    }
    free(data);
}

static void plain(void **state)
{
    (void)state;
    check_mode("fatbin.none.fatbin", FATBIN_PLAIN);
}

static void lz4(void **state)
{
    (void)state;
    check_mode("fatbin.speed.fatbin", FATBIN_LZ4);
}

static void zstd(void **state)
{
    (void)state;
    check_mode("fatbin.size.fatbin", FATBIN_ZSTD);
    check_mode("fatbin.balance.fatbin", FATBIN_ZSTD);
}

static bool unpack_elf(void *user, const struct fatbin_entry *entry)
{
    char message[256];
    size_t bytes;
    if (entry->kind != FATBIN_ELF)
        return true;
    char *elf = fatbin_unpack(entry, &bytes, message, sizeof message);
    assert_non_null(elf);
    assert_int_equal(fatbin_classify(elf), FATBIN_IMAGE_ELF);
    free(elf);
    (*(int *)user)++;
    return false; /* stops here */
}

static void machine_code_unpacks_too(void **state)
{
    (void)state;
    size_t bytes;
    int unpacked = 0;
    char message[256], *data = data_read("fatbin.size.fatbin", &bytes);
    assert_int_equal(fatbin_entries(data, bytes, unpack_elf, &unpacked, message, sizeof message),
                     0);
    assert_int_equal(unpacked, 1);
    free(data);
}

static void assert_machine_code(const char *file, uint64_t low, uint64_t high)
{
    size_t bytes;
    char *data = data_read(file, &bytes);
    const struct fatbin_machine_code code = fatbin_machine_code(data, bytes);
    assert_int_equal(code.bits[0], low);
    assert_int_equal(code.bits[1], high);
    assert_int_equal(code.bits[2] | code.bits[3], 0);
    free(data);
}

static void machine_code_is_listed(void **state)
{
    (void)state;
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n";
    assert_machine_code("fatbin.several.fatbin", 0, 1u << (75 - 64) | 1u << (90 - 64));
    assert_machine_code("fatbin.library.fatbin", 0, 1u << (75 - 64));
    assert_machine_code("fatbin.bare.cubin", 0, 0);
    const struct fatbin_machine_code none = fatbin_machine_code(text, sizeof text);
    assert_int_equal(none.bits[0] | none.bits[1] | none.bits[2] | none.bits[3], 0);
}

static void several_architectures_come_newest_first(void **state)
{
    (void)state;
    size_t bytes, count;
    struct fatbin_text *texts;
    char message[256], *data = data_read("fatbin.several.fatbin", &bytes);
    assert_int_equal(fatbin_texts(data, bytes, &texts, &count, message, sizeof message), 3);
    assert_int_equal(texts[0].arch, 100);
    assert_int_equal(texts[1].arch, 90);
    assert_int_equal(texts[2].arch, 75);
    for (size_t i = 0; i < count; i++)
        assert_is_ours(&texts[i]);
    fatbin_texts_release(texts, count);
    free(data);
}

/* The text of a cubin is the PTX it was made from, at the same lines. */
static void assert_same_instructions(const char *text, const char *original)
{
    struct ptx_module *a = parse_text(text), *b = parse_text(original);
    assert_int_equal(a->function_count, b->function_count);
    for (uint32_t f = 0; f < b->function_count; f++) {
        const struct ptx_function *wanted = b->functions[f];
        const struct ptx_function *found = ptx_module_function(a, wanted->name);
        assert_non_null(found);
        assert_int_equal(found->instruction_count, wanted->instruction_count);
        for (uint32_t i = 0; i < wanted->instruction_count; i++) {
            assert_int_equal(found->instructions[i].opcode, wanted->instructions[i].opcode);
            assert_int_equal(found->instructions[i].line, wanted->instructions[i].line);
        }
    }
    ptx_module_release(a);
    ptx_module_release(b);
}

static void cubins_keep_their_text(void **state)
{
    (void)state;
    size_t bytes, unused, count;
    struct fatbin_text *texts;
    char message[256];
    char *cubin = data_read("fatbin.lines.cubin", &bytes);
    char *ptx = data_read("fatbin.lines.ptx", &unused);
    for (size_t limit = 0; limit <= bytes; limit += bytes) {
        assert_int_equal(fatbin_texts(cubin, limit, &texts, &count, message, sizeof message), 1);
        assert_is_ours(&texts[0]);
        assert_int_equal(texts[0].arch, 90);
        assert_same_instructions(texts[0].text, ptx);
        fatbin_texts_release(texts, count);
    }
    free(cubin);
    free(ptx);
    cubin = data_read("fatbin.bare.cubin", &bytes);
    assert_int_equal(fatbin_image_bytes(cubin), bytes);
    assert_int_equal(fatbin_texts(cubin, bytes, &texts, &count, message, sizeof message), 0);
    free(cubin);
}

static void linked_cubins_keep_one_for_each_unit(void **state)
{
    (void)state;
    size_t bytes, count;
    struct fatbin_text *texts;
    char message[256], *cubin = data_read("linked.cubin", &bytes);
    assert_int_equal(fatbin_texts(cubin, bytes, &texts, &count, message, sizeof message), 2);
    assert_int_equal(texts[0].unit, 0);
    assert_int_equal(texts[1].unit, 1);
    bool first = strstr(texts[0].text, ".entry _Z6from_aPi");
    assert_non_null(strstr(texts[!first].text, ".entry _Z6from_aPi"));
    assert_non_null(strstr(texts[first].text, "_Z5otheri"));
    fatbin_texts_release(texts, count);
    free(cubin);
}

/* Cut off anywhere or with any byte changed: no crash, no byte read outside. */
static void damaged_cubins(void **state)
{
    (void)state;
    size_t bytes, count;
    struct fatbin_text *texts;
    char message[256], *cubin = data_read("fatbin.lines.cubin", &bytes);
    for (size_t at = 0; at < bytes; at += at < 100 || at > bytes - 1200 ? 1 : 97) {
        char *copy = malloc(at + 1), saved = cubin[at];
        memcpy(copy, cubin, at + 1);
        if (fatbin_texts(copy, at + 1, &texts, &count, message, sizeof message) >= 0)
            fatbin_texts_release(texts, count);
        free(copy);
        cubin[at] = (char)~saved;
        if (fatbin_texts(cubin, bytes, &texts, &count, message, sizeof message) >= 0)
            for (size_t i = 0; i < count; i++)
                assert_int_equal(texts[i].text[texts[i].bytes], 0);
        fatbin_texts_release(texts, count);
        cubin[at] = saved;
    }
    free(cubin);
}

struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void *const *list;
};

static void wrappers(void **state)
{
    (void)state;
    size_t bytes, a_bytes, b_bytes, count;
    struct fatbin_text *texts;
    char message[256];
    char *whole = data_read("fatbin.none.fatbin", &bytes);
    char *a = data_read("unit_a.relfatbin", &a_bytes), *b = data_read("unit_b.relfatbin", &b_bytes);
    struct wrapper one = {0x466243B1, 1, whole, NULL};
    assert_int_equal(fatbin_classify(&one), FATBIN_IMAGE_WRAPPER);
    assert_int_equal(fatbin_texts(&one, 0, &texts, &count, message, sizeof message), 1);
    assert_is_ours(&texts[0]);
    fatbin_texts_release(texts, count);

    const void *list[] = {a, b, NULL};
    struct wrapper two = {0x466243B1, 2, whole, list};
    assert_int_equal(fatbin_texts(&two, 0, &texts, &count, message, sizeof message), 2);
    assert_int_equal(texts[0].unit, 0);
    assert_int_equal(texts[1].unit, 1);
    assert_non_null(strstr(texts[0].text, "from_a"));
    assert_non_null(strstr(texts[1].text, "_Z5otheri"));
    fatbin_texts_release(texts, count);
    free(whole);
    free(a);
    free(b);
}

static void plain_text_and_strangers(void **state)
{
    (void)state;
    size_t count;
    struct fatbin_text *texts;
    char message[256];
    const char *ptx = "// hello\n" HEAD ".visible .entry k() { ret; }\n";
    assert_int_equal(fatbin_classify(ptx), FATBIN_IMAGE_PTX);
    assert_int_equal(fatbin_texts(ptx, 0, &texts, &count, message, sizeof message), 1);
    assert_string_equal(texts[0].text, ptx);
    assert_int_equal(texts[0].arch, 90);
    fatbin_texts_release(texts, count);
    assert_int_equal(fatbin_classify(""), FATBIN_IMAGE_UNKNOWN);
    assert_int_equal(fatbin_classify(NULL), FATBIN_IMAGE_UNKNOWN);
    assert_int_equal(fatbin_texts("garbage", 0, &texts, &count, message, sizeof message), -1);
    assert_int_equal(count, 0);
    assert_non_null(strstr(message, "no fat binary"));
    assert_int_equal(fatbin_texts("\177ELF", 0, &texts, &count, message, sizeof message), 0);
}

/* Every cut is reported, says where, and gives what came before it. The copy is exactly as long as
 * the limit, so that a sanitizer sees any byte read too far. */
static void truncated(void **state)
{
    (void)state;
    size_t bytes;
    char *data = data_read("fatbin.several.fatbin", &bytes);
    for (size_t limit = 1; limit < bytes; limit += limit < 200 ? 1 : 97) {
        struct fatbin_text *texts;
        size_t count;
        char message[256] = "", *copy = malloc(limit);
        memcpy(copy, data, limit);
        assert_int_equal(fatbin_texts(copy, limit, &texts, &count, message, sizeof message), -1);
        assert_true(message[0] != 0);
        if (limit > 4)
            assert_non_null(strstr(message, "offset"));
        if (limit > 12000) /* behind the first PTX entry */
            assert_true(count >= 1);
        for (size_t i = 0; i < count; i++)
            assert_is_ours(&texts[i]);
        fatbin_texts_release(texts, count);
        free(copy);
    }
    free(data);
}

/* Any byte changed: no crash, and what comes back is well-formed or reported. */
static void corrupted(void **state)
{
    (void)state;
    static const char *const files[] = {"fatbin.speed.fatbin", "fatbin.size.fatbin"};
    for (size_t f = 0; f < 2; f++) {
        size_t bytes, damaged = 0;
        char *data = data_read(files[f], &bytes);
        for (size_t at = 0; at < bytes; at += at < 100 || at > bytes - 2600 ? 1 : 97) {
            struct fatbin_text *texts;
            size_t count;
            char message[256] = "", saved = data[at];
            data[at] = (char)~saved;
            int result = fatbin_texts(data, bytes, &texts, &count, message, sizeof message);
            damaged += result < 0;
            assert_true(result >= 0 || message[0]);
            for (size_t i = 0; i < count; i++)
                assert_int_equal(texts[i].text[texts[i].bytes], 0);
            fatbin_texts_release(texts, count);
            data[at] = saved;
        }
        assert_true(damaged > 10);
        free(data);
    }
}

static void absurd_sizes_are_refused(void **state)
{
    (void)state;
    char message[256];
    size_t bytes;
    struct fatbin_entry entry = {.compression = FATBIN_ZSTD,
                                 .payload = (const uint8_t *)"x",
                                 .payload_bytes = 1,
                                 .unpacked_bytes = (size_t)1 << 40};
    assert_null(fatbin_unpack(&entry, &bytes, message, sizeof message));
    assert_non_null(strstr(message, "larger than 1 GiB"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),
        cmocka_unit_test(lz4),
        cmocka_unit_test(zstd),
        cmocka_unit_test(machine_code_unpacks_too),
        cmocka_unit_test(machine_code_is_listed),
        cmocka_unit_test(several_architectures_come_newest_first),
        cmocka_unit_test(cubins_keep_their_text),
        cmocka_unit_test(linked_cubins_keep_one_for_each_unit),
        cmocka_unit_test(damaged_cubins),
        cmocka_unit_test(wrappers),
        cmocka_unit_test(plain_text_and_strangers),
        cmocka_unit_test(truncated),
        cmocka_unit_test(corrupted),
        cmocka_unit_test(absurd_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
