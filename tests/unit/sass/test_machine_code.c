/* What is read off cubins: kernels with accesses that no patch is called for, which of their
 * parameters kernels read, and which are tensor maps that they copy through; in files that are
 * whole, cut off, or of random bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/hook/tracer/fake_cubin.h"
#include "tests/unit/sass/reads_case.h"
#include "runtime/ptx/cubin.h"
#include "runtime/sass/machine_code.h"
#include "runtime/sass/step.h"
#include "tests/unit/sass/sm90_code.h"

#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static uint8_t file[FAKE_CUBIN_BYTES];

static void *file_read(const char *path, size_t *bytes)
{
    FILE *opened = fopen(path, "rb");
    assert_non_null(opened);
    assert_int_equal(fseek(opened, 0, SEEK_END), 0);
    *bytes = (size_t)ftell(opened);
    rewind(opened);
    void *data = malloc(*bytes);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *bytes, opened), *bytes);
    fclose(opened);
    return data;
}

static const struct instruction loads[] = {{FAKE_LDG, 0}, {FAKE_LDG, 0}};
static const struct instruction copies[] = {{FAKE_LDG, 0}, {FAKE_UTMALDG, 0}};

static struct machine_code *read_functions(const struct fake_function *functions, uint16_t count)
{
    struct machine_code *code = machine_code_read(file, fake_cubin(file, functions, count));
    assert_non_null(code);
    return code;
}

/* Of a launch with zeros for parameters; false: all of them, as far as is known. */
static bool reads(struct machine_code *code, const char *kernel, uint32_t words, uint32_t *read)
{
    struct reads *narrowed = machine_code_reads(code, kernel, words);
    if (narrowed)
        reads_given(narrowed,
                    &(struct reads_launch){.parameters = NULL, .bytes = 0, .grid = {1, 1, 1}},
                    read);
    const bool known = narrowed;
    free(narrowed);
    return known;
}

static void kernels_are_distinguished(void **state)
{
    (void)state;
    const struct fake_function functions[] = {
        {"load", 1, 8, loads, 2}, {"copy", 1, 8, copies, 2}, {"copy_more", 1, 0, copies + 1, 1}};
    struct machine_code *code = read_functions(functions, COUNT(functions));
    assert_false(machine_code_is_blind(code, "load"));
    assert_true(machine_code_is_blind(code, "copy"));
    assert_true(machine_code_is_blind(code, "copy_more"));
    assert_true(machine_code_is_blind(code, NULL)); /* it may be any */
    assert_true(machine_code_is_blind(code, "stores"));
    machine_code_free(code);
}

/* As nvcc makes them: SUST.P and TEX of handles in registers, and a multicast load of integers. */
static void what_no_patch_sees_has_many_forms(void **state)
{
    static const struct instruction unseen[] = {{0x7160, 0}, {0x7361, 0}, {0x7364, 0}, {0x7367, 0},
                                                {0x736d, 0}, {0x7b9b, 0}, {0x799a, 0}, {0x799c, 0},
                                                {0x799e, 0}, {0x73a0, 0}, {0x79a4, 0}, {0x79a5, 0}},
                                    /* TXQ, TXQ.B, MATCH */
        seen[] = {{0x7f6f, 0}, {0x7370, 0}, {0x73a1, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(unseen); i++)
        assert_true(instruction_is_unseen(unseen[i]));
    for (size_t i = 0; i < COUNT(seen); i++)
        assert_false(instruction_is_unseen(seen[i]));
}

static void a_function_that_is_called_counts_for_all(void **state)
{
    (void)state;
    const struct fake_function functions[] = {{"load", 1, 8, loads, 2},
                                              {"helper", 0, 0, copies, 2}};
    struct machine_code *code = read_functions(functions, COUNT(functions));
    assert_true(machine_code_is_blind(code, "load"));
    machine_code_free(code);
}

static const struct instruction straight[] = {
    {UINT64_C(0x0000660000047ab9), 0xa00} /* ULDC.64 UR4, c[0x0][0x198] */,
    {UINT64_C(0x00000008040075b4), 0x8008000} /* UTMALDG [UR8], [UR4] */,
    {0x794d, 0x3800000} /* EXIT */};

/* The maps that this kernel copies through are not known. */
static void a_function_that_copies_counts_for_all(void **state)
{
    (void)state;
    const struct fake_function functions[] = {{"k", 1, 128, straight, COUNT(straight)},
                                              {"helper", 0, 0, copies, 2}};
    struct machine_code *code = read_functions(functions, 1);
    assert_false(machine_code_is_blind(code, "k"));
    assert_non_null(machine_code_maps(code, "k"));
    machine_code_free(code);
    code = read_functions(functions, 2);
    assert_true(machine_code_is_blind(code, "k"));
    assert_null(machine_code_maps(code, "k"));
    machine_code_free(code);
}

/* Headers say that more than half of the file is theirs. */
static void code_that_lies_over_other_code_is_not_read(void **state)
{
    (void)state;
    const struct fake_function functions[] = {{"k", 1, 8, loads, 2}, {"other", 1, 8, loads, 2}};
    const size_t bytes = fake_cubin(file, functions, COUNT(functions));
    uint32_t read;
    for (uint32_t whole = 0; whole <= COUNT(functions); whole++) {
        Elf64_Ehdr header;
        Elf64_Shdr section;
        memcpy(&header, file, sizeof header);
        for (uint32_t i = 0; i < whole; i++) {
            uint8_t *at = file + header.e_shoff + (1 + 2 * i) * sizeof section;
            memcpy(&section, at, sizeof section);
            section.sh_offset = 0;
            section.sh_size = bytes / 2 + 1;
            memcpy(at, &section, sizeof section);
        }
        struct machine_code *code = machine_code_read(file, bytes);
        assert_int_equal(reads(code, "other", 2, &read), whole < 2);
        machine_code_free(code);
    }
}

/* Each by its name in nvdisasm's words, with a predicate in front. */
static void opcodes_are_known_in_every_form(void **state)
{
    (void)state;
    static const struct {
        uint32_t opcode;
        bool blind;
    } expected[] = {{0x75b4, true} /* UTMALDG */,  {0x73b5, true} /* UTMASTG */,
                    {0x73b6, true} /* UTMAREDG */, {0x05b4, true} /* @P0 */,
                    {0x7b60, true} /* TEX */,      {0x7f60, true},
                    {0x7f66, true} /* TLD */,      {0x7b63, true} /* TLD4 */,
                    {0x7f6c, true} /* TXD */,      {0x7b99, true} /* SULD */,
                    {0x7f9d, true} /* SUST */,     {0x0f9f, true} /* SURED */,
                    {0x71a5, true} /* LDGMC */,    {0x75b8, false} /* UTMAPF */,
                    {0x73ba, false} /* UBLKCP */,  {0x73bb, false} /* UBLKRED */,
                    {0x7981, false} /* LDG */,     {0x7986, false} /* STG */,
                    {0x098e, false} /* REDG */,    {0x79b7, false} /* UTMACMDFLUSH */};
    for (size_t i = 0; i < COUNT(expected); i++) {
        const struct instruction instruction = {expected[i].opcode, 0};
        const struct fake_function kernel = {"k", 1, 0, &instruction, 1};
        struct machine_code *code = read_functions(&kernel, 1);
        assert_int_equal(machine_code_is_blind(code, "k"), expected[i].blind);
        machine_code_free(code);
    }
}

/* ---- Parameters ---- */

/* Of a kernel with so many words: those that it reads as bits; or all. */
enum { WORDS = 16 };
#define ALL UINT32_MAX

static uint32_t words_read(const struct instruction *instructions, uint32_t count)
{
    uint32_t read = 0;
    const struct fake_function kernel = {"k", 1, WORDS * 4, instructions, count};
    struct machine_code *code = read_functions(&kernel, 1);
    bool known = reads(code, "k", WORDS, &read);
    machine_code_free(code);
    return known ? read : ALL;
}

#define READ(...)                                                                                  \
    words_read((const struct instruction[]){__VA_ARGS__},                                          \
               COUNT(((const struct instruction[]){__VA_ARGS__})))

enum { P = FAKE_PARAMS_AT };

static void words_that_are_loaded_are_read(void **state)
{
    (void)state;
    assert_int_equal(READ({FAKE_LDG, 0}), 0);
    assert_int_equal(READ(FAKE_LDC(P)), 1);
    assert_int_equal(READ(FAKE_LDC(P + 3 * 4), FAKE_LDC(P + 5 * 4)), 1 << 3 | 1 << 5);
    assert_int_equal(READ(FAKE_LDC64(P + 6 * 4)), 3 << 6);
    assert_int_equal(READ({0x0000840000047ab9, 0xa00}), 3);          /* ULDC.64 */
    assert_int_equal(READ({0x0000850000047ab9, 0x800}), 1 << 1);     /* ULDC */
    assert_int_equal(READ({0x00004300ff0477ac, 0x8000800}), 1 << 2); /* LDCU */
    assert_int_equal(READ(FAKE_LDC(P + WORDS * 4)), 0);              /* behind the last */
}

/* Each as nvdisasm prints it. */
static void operands_are_read(void **state)
{
    (void)state;
    /* IMAD R2, R5, R2, c[0x0][0x218]: word 2; .WIDE: its addend has eight bytes. */
    assert_int_equal(READ({0x0000860005027624, 0}), 1 << 2);
    assert_int_equal(READ({0x0000860005027625, 0}), 3 << 2);
    /* IMAD.WIDE R2, R5, c[0x0][0x218], R2 */
    assert_int_equal(READ({0x0000860005027a25, 0}), 1 << 2);
    /* DFMA R2, R4, c[0x0][0x218], R2 */
    assert_int_equal(READ({0x0000860004027a2b, 0}), 3 << 2);
    /* DFMA R24, R38, R24, c[0x2][0x0]: another bank */
    assert_int_equal(READ({0x0080000026187a2b, 0}), 0);
}

static void what_a_register_holds_may_be_any(void **state)
{
    (void)state;
    assert_int_equal(READ({0x0000840004027b82, 0x800}), ALL);     /* LDC R2, c[0x0][R4+0x210] */
    assert_int_equal(READ({0x00005400060677ac, 0x8000800}), ALL); /* LDCU UR6, c[0x0][UR6+0x2a0] */
    assert_int_equal(READ({0x00c000003f3eab82, 0xa00}), 0);       /* c[0x3][R63]: other memory */
    assert_int_equal(READ({0x0000840000047ab9, 0x8000a00}), ALL); /* as nobody saw ULDC */
}

/* c[0x0][0x198] is where the bank lies in generic addresses; c[0x0][0x28] and [0x208] are no such
 * thing. */
static void whose_address_is_taken_may_be_any(void **state)
{
    (void)state;
    assert_int_equal(READ(FAKE_LDC(0x28), FAKE_LDC64(0x208), FAKE_LDC(P)), 1);
    assert_int_equal(READ(FAKE_LDC64(0x198), FAKE_LDC(P)), ALL);
    assert_int_equal(READ(FAKE_LDC64(0x194), FAKE_LDC(P)), ALL);
    assert_int_equal(READ(FAKE_LDC(0x1f0), FAKE_LDC(P)), ALL); /* nobody knows what it is */
}

/* It may be called by any kernel, and be given what that reads for it. */
static void a_function_that_takes_the_address_counts_for_all(void **state)
{
    (void)state;
    uint32_t read = 0;
    const struct instruction own[] = {FAKE_LDC(P)}, helper[] = {FAKE_LDC64(0x198)};
    const struct fake_function functions[] = {{"k", 1, 8, own, 1}, {"helper", 0, 0, helper, 1}};
    struct machine_code *code = read_functions(functions, 1);
    assert_true(reads(code, "k", 2, &read));
    machine_code_free(code);
    code = read_functions(functions, 2);
    assert_false(reads(code, "k", 2, &read));
    machine_code_free(code);
}

static void parameters_are_counted(void **state)
{
    (void)state;
    uint32_t read[3] = {0, 0, 7};
    const struct instruction code[] = {FAKE_LDC(P + 4 * 40)};
    const struct fake_function kernels[] = {{"many", 1, 4 * 41, code, 1},
                                            {"none", 1, 0, loads, 2},
                                            {"odd", 1, 6, loads, 2},
                                            {"helper", 0, 0, code, 1}};
    struct machine_code *known = read_functions(kernels, COUNT(kernels));
    assert_true(reads(known, "many", 41, read));
    assert_int_equal(read[0], 0);
    assert_int_equal(read[1], 1 << 8);
    assert_int_equal(read[2], 7);
    assert_false(reads(known, "many", 40, read));
    assert_false(reads(known, "none", 1, read));
    assert_true(reads(known, "odd", 2, read));
    assert_false(reads(known, "helper", 0, read));
    assert_false(reads(known, "other", 1, read));
    machine_code_free(known);
}

/* A file may say more than a kernel may have: nobody who asks has room for so many. */
static void more_parameters_than_there_can_be_are_not_known(void **state)
{
    (void)state;
    const struct fake_function kernels[] = {{"most", 1, 4 * READS_WORDS_MOST, loads, 2},
                                            {"more", 1, 4 * READS_WORDS_MOST + 4, loads, 2}};
    struct machine_code *known = read_functions(kernels, COUNT(kernels));
    struct reads *most = machine_code_reads(known, "most", READS_WORDS_MOST);
    assert_non_null(most);
    assert_null(machine_code_reads(known, "more", READS_WORDS_MOST + 1));
    free(most);
    machine_code_free(known);
}

/* What the compiler makes of parameters.cu, by word: `parts` has 26, with count in the first, data
 * in 2 and 3, scale in 20 and 21, flag in 22. */
static void real_kernels_read_what_they_do(void **state)
{
    (void)state;
    enum { PARTS = 26, SECOND = PARTS + 6 };
    static const uint64_t ANY = UINT64_MAX;
    static const struct {
        const char *kernel;
        uint32_t words;
        uint64_t read;
    } expected[] = {
        {"_Z10reads_some5parts", PARTS, 0xc | 0x700000},
        {"_Z18reads_some_of_many5partsixfS_", SECOND + PARTS,
         0xc | UINT64_C(3) << (PARTS + 2) | UINT64_C(1) << (PARTS + 4) | UINT64_C(0xd) << SECOND},
        {"_Z13reads_nothing5parts", PARTS, 0},
        {"_Z16takes_an_address5parts", PARTS, ANY},
        {"_Z16keeps_an_address5partsPPKS_", PARTS + 2, ANY},
    };
    static const char *const files[] = {CUBINS};
    for (size_t i = 0; i < COUNT(files); i++) {
        size_t bytes;
        void *cubin = file_read(files[i], &bytes);
        struct machine_code *code = machine_code_read(cubin, bytes);
        for (size_t k = 0; k < COUNT(expected); k++) {
            uint64_t read = 0;
            bool known = reads(code, expected[k].kernel, expected[k].words, (uint32_t *)&read);
            assert_int_equal(known ? read : ANY, expected[k].read);
            assert_false(machine_code_is_blind(code, expected[k].kernel));
        }
        machine_code_free(code);
        free(cubin);
    }
}

/* Read alone, a kernel reads what it does beside the others, which are not known then. */
static void a_kernel_is_read_alone(void **state)
{
    (void)state;
    enum { PARTS = 26, SECOND = PARTS + 6 };
    static const struct {
        const char *kernel;
        uint32_t words;
    } kernels[] = {{"_Z10reads_some5parts", PARTS},
                   {"_Z18reads_some_of_many5partsixfS_", SECOND + PARTS},
                   {"_Z13reads_nothing5parts", PARTS},
                   {"_Z16takes_an_address5parts", PARTS}};
    static const char *const files[] = {CUBINS};
    for (size_t i = 0; i < COUNT(files); i++) {
        size_t bytes;
        void *cubin = file_read(files[i], &bytes);
        struct machine_code *all = machine_code_read(cubin, bytes);
        for (size_t k = 0; k < COUNT(kernels); k++) {
            struct machine_code *code = machine_code_read_kernel(cubin, bytes, kernels[k].kernel);
            struct reads *one = machine_code_reads(code, kernels[k].kernel, kernels[k].words);
            struct reads *of_all = machine_code_reads(all, kernels[k].kernel, kernels[k].words);
            assert_int_equal(one != NULL, of_all != NULL);
            if (one)
                assert_memory_equal(one, of_all, reads_bytes(of_all));
            assert_false(machine_code_is_blind(code, kernels[k].kernel));
            assert_true(machine_code_is_blind(code, kernels[(k + 1) % COUNT(kernels)].kernel));
            free(of_all);
            free(one);
            machine_code_free(code);
        }
        machine_code_free(all);
        free(cubin);
    }
}

/* Of its last member that it reads, a byte. */
static void real_kernels_read_no_padding(void **state)
{
    (void)state;
    enum { PARTS = 26, FLAG = 22 };
    static const char *const files[] = {CUBINS};
    for (size_t i = 0; i < COUNT(files); i++) {
        size_t bytes;
        void *cubin = file_read(files[i], &bytes);
        struct machine_code *code = machine_code_read(cubin, bytes);
        struct reads *known = machine_code_reads(code, "_Z10reads_some5parts", PARTS);
        uint32_t parameters[PARTS];
        memset(parameters, 0x55, sizeof parameters);
        assert_non_null(known);
        reads_cleared(known,
                      &(struct reads_launch){
                          .parameters = parameters, .bytes = sizeof parameters, .grid = {1, 1, 1}},
                      parameters);
        for (uint32_t word = 0; word < PARTS; word++)
            assert_int_equal(parameters[word], word == FLAG                   ? 0x55
                                               : (0xc | 0x300000) >> word & 1 ? 0x55555555
                                                                              : 0);
        free(known);
        machine_code_free(code);
        free(cubin);
    }
}

/* reads_tables: six pointers, six words, 24 bytes, 24 words. Before sm_90 the compiler has some of
 * their offsets in a constant bank of its own. */
static void real_kernels_read_what_tables_say(void **state)
{
    (void)state;
    enum { LENGTHS = 12, OF_BLOCK = 18, PART = 24, TABLE_WORDS = 48, BLOCKS = 5 };
    static const char *const files[] = {CUBINS};
    static const uint8_t of_block[BLOCKS] = {0, 1, 1, 4, 4};
    for (size_t i = 0; i < COUNT(files); i++) {
        size_t bytes;
        void *cubin = file_read(files[i], &bytes);
        struct machine_code *code = machine_code_read(cubin, bytes);
        struct reads *known = machine_code_reads(code, "_Z12reads_tables6arrays", TABLE_WORDS);
        uint32_t parameters[TABLE_WORDS], expected[TABLE_WORDS] = {0};
        memset(parameters, 0x55, sizeof parameters);
        memcpy(parameters + OF_BLOCK, of_block, sizeof of_block);
        memcpy(expected + OF_BLOCK, of_block, sizeof of_block);
        for (uint32_t block = 0; block < BLOCKS; block++)
            expected[PART + block] = expected[LENGTHS + of_block[block]] =
                expected[2 * of_block[block]] = expected[2 * of_block[block] + 1] = 0x55555555;
        assert_non_null(known);
        reads_cleared(known, &(struct reads_launch){parameters, sizeof parameters, {BLOCKS, 1, 1}},
                      parameters);
        assert_memory_equal(parameters, expected, sizeof parameters);
        free(known);
        machine_code_free(code);
        free(cubin);
    }
}

/* reads_dimensions: how many there are in the first word, then sizes, strides and, in words 18 and
 * 19, a pointer. */
enum { DIMENSIONS = 8, READ_WORDS = 20, SIZES = 1, STRIDES = 9, POINTER = 18 };

static uint32_t words_of(uint32_t sizes, uint32_t strides)
{
    return 1 | ((1u << sizes) - 1) << SIZES | ((1u << strides) - 1) << STRIDES | 3u << POINTER;
}

/* Before sm_90 the compiler looks at the next size before it asks whether there is one. */
static void real_kernels_read_within_the_known_bytes(void **state)
{
    (void)state;
    static const char *const files[] = {CUBINS};
    for (size_t i = 0; i < COUNT(files); i++) {
        size_t bytes;
        void *cubin = file_read(files[i], &bytes);
        struct machine_code *code = machine_code_read(cubin, bytes);
        struct reads *known =
            machine_code_reads(code, "_Z16reads_dimensions10dimensionsPf", READ_WORDS);
        const uint32_t architecture = cubin_architecture(cubin, bytes);
        assert_non_null(known);
        for (uint32_t count = 0; count <= DIMENSIONS + 1; count++) {
            const uint32_t parameters[READ_WORDS] = {count};
            uint32_t read, there = count < DIMENSIONS ? count : DIMENSIONS;
            reads_given(known,
                        &(struct reads_launch){.parameters = parameters,
                                               .bytes = sizeof parameters,
                                               .grid = {1, 1, 1}},
                        &read);
            const bool ahead = architecture < 90 && there && there < DIMENSIONS &&
                               read == words_of(there + 1, there);
            assert_int_equal(read, words_of(there + ahead, there));
        }
        free(known);
        machine_code_free(code);
        free(cubin);
    }
}

/* reads_one_dimension: two tensors of twenty words (a pointer, eight sizes, eight strides, how many
 * of these there are, and nothing), a pointer, two dimensions, a count and nothing, a number of
 * two. The registers are the same behind an assertion, from which control does not come back.
 * Behind printf nobody knows them. */
static void real_kernels_read_one_dimension(void **state)
{
    (void)state;
    enum { ONE_WORDS = 48, TENSOR = 20, STRIDE = 10, DIM = 42, OTHER = 43 };
    static const char *const files[] = {CUBINS};
    for (size_t i = 0; i < COUNT(files); i++) {
        size_t bytes;
        void *cubin = file_read(files[i], &bytes);
        struct machine_code *code = machine_code_read(cubin, bytes);
        struct reads *known =
            machine_code_reads(code, "_Z19reads_one_dimension6tensorS_PKliijl", ONE_WORDS);
        assert_non_null(known);
        for (uint32_t dim = 0; dim < 8; dim++) {
            uint32_t parameters[ONE_WORDS], read[2] = {0}, wanted[2] = {0};
            const uint32_t other = 7 - dim, words[] = {0,
                                                       1,
                                                       2,
                                                       STRIDE,
                                                       TENSOR,
                                                       TENSOR + 1,
                                                       TENSOR + STRIDE,
                                                       STRIDE + dim,
                                                       40,
                                                       41,
                                                       DIM,
                                                       OTHER,
                                                       44,
                                                       46,
                                                       47,
                                                       TENSOR + STRIDE + other};
            memset(parameters, 0x55, sizeof parameters);
            parameters[DIM] = dim;
            parameters[OTHER] = other;
            for (size_t k = 0; k < COUNT(words); k++)
                wanted[words[k] / 32] |= 1u << words[k] % 32;
            parameters[44] = 1;
            reads_given(known,
                        &(struct reads_launch){.parameters = parameters,
                                               .bytes = sizeof parameters,
                                               .grid = {1, 1, 1}},
                        read);
            assert_int_equal(read[0], wanted[0]);
            assert_int_equal(read[1], wanted[1]);
        }
        free(known);
        assert_null(machine_code_reads(code, "_Z16prints_meanwhile6tensorij", TENSOR + 2));
        machine_code_free(code);
        free(cubin);
    }
}

/* ---- Tensor maps ---- */

/* What the compiler makes of tensor_copies.cu. Maps lie at multiples of their 128 bytes in the
 * constant bank, of which the parameters do not begin at one. */
enum { FIRST_MAP = 0x280 - P, SECOND_MAP = 0x300 - P };

static const struct {
    const char *kernel;
    bool blind;
    uint32_t count;
    struct map_use maps[2];
} copying[] = {
    {"_Z6copiesi14CUtensorMap_stS_",
     false,
     2,
     {{FIRST_MAP, MAP_READS, 0}, {SECOND_MAP, MAP_STORES, 0}}},
    {"_Z4adds14CUtensorMap_sti", false, 1, {{FIRST_MAP, MAP_REDUCES, 0}}},
    {"_Z7chooses14CUtensorMap_stS_S_i",
     false,
     2,
     {{FIRST_MAP, MAP_READS, 0}, {SECOND_MAP, MAP_READS, 0}}},
    {"_Z5steps14CUtensorMap_stS_i",
     false,
     2,
     {{FIRST_MAP, MAP_READS, 0}, {SECOND_MAP, MAP_READS, 0}}},
    {"_Z15only_prefetches14CUtensorMap_st", false, 0, {{0, 0, 0}}},
    {"_Z7indexes4fouri", false, 1, {{FIRST_MAP, MAP_READS, 128}}},
    {"_Z6pointsPK14CUtensorMap_st", true, 0, {{0, 0, 0}}},
    {"_Z13points_or_notPK14CUtensorMap_stS_", true, 0, {{0, 0, 0}}},
};

static const char *const tensor_cubins[] = {TENSOR_CUBINS};

static void real_kernels_copy_through_maps(void **state)
{
    (void)state;
    size_t bytes;
    void *cubin = file_read(tensor_cubins[0], &bytes);
    struct machine_code *code = machine_code_read(cubin, bytes);
    free(cubin); /* it is not kept */
    for (size_t i = 0; i < COUNT(copying); i++) {
        const struct map_uses *maps = machine_code_maps(code, copying[i].kernel);
        assert_int_equal(machine_code_is_blind(code, copying[i].kernel), copying[i].blind);
        assert_int_equal(maps ? maps->count : 0, copying[i].count);
        for (uint32_t k = 0; k < copying[i].count; k++) {
            assert_int_equal(maps->uses[k].offset, copying[i].maps[k].offset);
            assert_int_equal(maps->uses[k].copies, copying[i].maps[k].copies);
            assert_int_equal(maps->uses[k].every, copying[i].maps[k].every);
        }
    }
    assert_null(machine_code_maps(code, "other"));
    machine_code_free(code);
}

/* Their instructions do otherwise. */
static void maps_of_other_architectures_are_not_known(void **state)
{
    (void)state;
    for (size_t i = 1; i < COUNT(tensor_cubins); i++) {
        size_t bytes;
        void *cubin = file_read(tensor_cubins[i], &bytes);
        struct machine_code *code = machine_code_read(cubin, bytes);
        for (size_t k = 0; k < COUNT(copying); k++) {
            const bool has_copies = copying[k].blind || copying[k].count;
            assert_null(machine_code_maps(code, copying[k].kernel));
            assert_int_equal(machine_code_is_blind(code, copying[k].kernel), has_copies);
        }
        machine_code_free(code);
        free(cubin);
    }
}

/* Elements of an array that are before the parameters, or where no map can be, are left out. */
static void maps_in_arrays_are_placed(void **state)
{
    (void)state;
    enum { BYTES = 512, NONE = -1 };
    static const struct {
        uint32_t at, every;
        int offset, distance; /* in the parameters */
    } expected[] = {{P + 48, 64, 48, 64},   {P + 48, 128, 48, 128}, {P - 80, 128, 48, 128},
                    {P - 80, 96, 112, 192}, {P + 40, 8, 48, 64},    {P + 40, 64, NONE, 0},
                    {P + 432, 64, 432, 64}, {P + 496, 64, NONE, 0}, {P + 48, 1 << 20, NONE, 0}};
    for (size_t i = 0; i < COUNT(expected); i++) {
        const struct instruction instructions[] = {uldc64(4, BANK_ADDRESS_AT),
                                                   uldc(6, P),
                                                   uiadd3_64_number(4, 4, expected[i].at),
                                                   uimad_wide_number(8, 6, expected[i].every, 4),
                                                   utmaldg(8),
                                                   exits()};
        const struct fake_function kernel = {"k", 1, BYTES, instructions, COUNT(instructions)};
        struct machine_code *code = read_functions(&kernel, 1);
        const struct map_uses *maps = machine_code_maps(code, "k");
        assert_int_equal(maps ? (int)maps->uses[0].offset : NONE, expected[i].offset);
        assert_int_equal(maps ? (int)maps->uses[0].every : 0, expected[i].distance);
        machine_code_free(code);
    }
}

/* A map that is no parameter. */
static void maps_elsewhere_are_not_known(void **state)
{
    (void)state;
    static const struct {
        uint32_t at;
        bool blind;
    } expected[] = {{P - 64, true}, {P, false}, {P + 64, false}, {P + 65, true}, {P + 128, true}};
    for (size_t i = 0; i < COUNT(expected); i++) {
        const struct instruction instructions[] = {uldc64(4, BANK_ADDRESS_AT),
                                                   uiadd3_64_number(4, 4, expected[i].at),
                                                   utmaldg(4), exits()};
        const struct fake_function kernel = {"k", 1, 128, instructions, COUNT(instructions)};
        struct machine_code *code = read_functions(&kernel, 1);
        const struct map_uses *maps = machine_code_maps(code, "k");
        assert_int_equal(machine_code_is_blind(code, "k"), expected[i].blind);
        assert_int_equal(maps == NULL, expected[i].blind);
        if (maps)
            assert_int_equal(maps->uses[0].offset, expected[i].at - P);
        machine_code_free(code);
    }
}

/* In place of the third function's attributes there are relocations of the first one's code. */
static void code_that_loading_changes_is_not_known(void **state)
{
    (void)state;
    const struct fake_function functions[] = {{"k", 1, 128, straight, COUNT(straight)},
                                              {"other", 1, 128, straight, COUNT(straight)},
                                              {"helper", 0, 0, loads, 2}};
    const size_t bytes = fake_cubin(file, functions, COUNT(functions));
    for (uint64_t size = 0; size <= sizeof(Elf64_Rela); size += sizeof(Elf64_Rela)) {
        Elf64_Ehdr header;
        Elf64_Shdr section;
        memcpy(&header, file, sizeof header);
        uint8_t *at = file + header.e_shoff + 6 * sizeof section;
        memcpy(&section, at, sizeof section);
        section.sh_name = 0;
        section.sh_type = SHT_RELA;
        section.sh_info = 1; /* the first one's code */
        section.sh_size = size;
        memcpy(at, &section, sizeof section);
        struct machine_code *code = machine_code_read(file, bytes);
        assert_int_equal(machine_code_is_blind(code, "k"), size > 0);
        assert_int_equal(machine_code_maps(code, "k") == NULL, size > 0);
        assert_false(machine_code_is_blind(code, "other"));
        machine_code_free(code);
    }
}

/* Before sm_70 instructions are encoded otherwise: their opcodes say nothing here. */
static void other_encodings_are_not_understood(void **state)
{
    static const struct {
        uint32_t architecture;
        bool blind;
    } expected[] = {{52, true}, {61, true}, {70, false}, {75, false}, {121, false}};
    const struct fake_function function = {"load", 1, 0, loads, 2};
    (void)state;
    for (size_t i = 0; i < COUNT(expected); i++) {
        const size_t bytes = fake_cubin(file, &function, 1);
        Elf64_Ehdr head;
        memcpy(&head, file, sizeof head);
        head.e_flags = expected[i].architecture;
        memcpy(file, &head, sizeof head);
        struct machine_code *code = machine_code_read(file, bytes);
        assert_int_equal(machine_code_is_blind(code, "load"), expected[i].blind);
        machine_code_free(code);
    }
}

static void what_cannot_be_read_is_not_trusted(void **state)
{
    (void)state;
    uint32_t read;
    struct machine_code *code = machine_code_read(NULL, 0);
    assert_true(machine_code_is_blind(code, "k"));
    assert_false(reads(code, "k", 1, &read));
    assert_false(reads(NULL, "k", 1, &read));
    machine_code_free(code);
    code =
        machine_code_read("not a cubin at all, and longer than a header of sixty-four bytes", 64);
    assert_true(machine_code_is_blind(code, "k"));
    machine_code_free(code);
}

/* Whatever is wrong with the file, no byte beside it is read: it ends where its memory ends. */
static void broken_files_are_survived(void **state)
{
    (void)state;
    const struct fake_function functions[] = {{"load", 1, 64, loads, 2},
                                              {"copy", 1, 128, straight, COUNT(straight)},
                                              {"helper", 0, 0, loads, 2}};
    size_t bytes = fake_cubin(file, functions, COUNT(functions));
    uint32_t read[2];
    uint32_t seed = 1;
    for (uint32_t round = 0; round < 20000; round++) {
        size_t length = round < bytes ? round : bytes;
        uint8_t *copy = malloc(length + 1);
        assert_non_null(copy);
        uint8_t *start = copy + 1; /* at no good address, and up to the end */
        memcpy(start, file, length);
        for (uint32_t i = 0; round >= bytes && i < 1 + round % 4; i++) {
            seed = seed * 1664525 + 1013904223;
            start[(seed >> 8) % bytes] = (uint8_t)(seed >> 24);
        }
        struct machine_code *code = machine_code_read(start, length);
        if (round < bytes)
            assert_true(machine_code_is_blind(code, "copy"));
        for (size_t i = 0; i < COUNT(functions); i++) {
            reads(code, functions[i].name, 16, read);
            machine_code_is_blind(code, functions[i].name);
            machine_code_maps(code, functions[i].name);
        }
        machine_code_free(code);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_distinguished),
        cmocka_unit_test(what_no_patch_sees_has_many_forms),
        cmocka_unit_test(a_function_that_is_called_counts_for_all),
        cmocka_unit_test(a_function_that_copies_counts_for_all),
        cmocka_unit_test(code_that_lies_over_other_code_is_not_read),
        cmocka_unit_test(opcodes_are_known_in_every_form),
        cmocka_unit_test(words_that_are_loaded_are_read),
        cmocka_unit_test(operands_are_read),
        cmocka_unit_test(what_a_register_holds_may_be_any),
        cmocka_unit_test(whose_address_is_taken_may_be_any),
        cmocka_unit_test(a_function_that_takes_the_address_counts_for_all),
        cmocka_unit_test(parameters_are_counted),
        cmocka_unit_test(more_parameters_than_there_can_be_are_not_known),
        cmocka_unit_test(real_kernels_read_what_they_do),
        cmocka_unit_test(a_kernel_is_read_alone),
        cmocka_unit_test(real_kernels_read_no_padding),
        cmocka_unit_test(real_kernels_read_what_tables_say),
        cmocka_unit_test(real_kernels_read_within_the_known_bytes),
        cmocka_unit_test(real_kernels_read_one_dimension),
        cmocka_unit_test(real_kernels_copy_through_maps),
        cmocka_unit_test(maps_of_other_architectures_are_not_known),
        cmocka_unit_test(maps_in_arrays_are_placed),
        cmocka_unit_test(maps_elsewhere_are_not_known),
        cmocka_unit_test(code_that_loading_changes_is_not_known),
        cmocka_unit_test(other_encodings_are_not_understood),
        cmocka_unit_test(what_cannot_be_read_is_not_trusted),
        cmocka_unit_test(broken_files_are_survived),
    };
    return cmocka_run_group_tests_name("machine_code", tests, NULL, NULL);
}
