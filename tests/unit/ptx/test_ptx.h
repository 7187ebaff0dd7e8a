/* What the PTX tests share: reading the files that ptx.mk compiled, and parsing snippets. */
#ifndef TESTS_UNIT_PTX_TEST_PTX_H
#define TESTS_UNIT_PTX_TEST_PTX_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/ptx/ptx.h"

#define PTX_DATA TEST_DATA "/../../build/data/ptx/"
#define HEAD     ".version 9.0\n.target sm_90\n.address_size 64\n"

/* A file's bytes, malloc'd, with a NUL behind them. */
static inline char *file_read(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s is missing: make builds what is in build/ (tests/unit/ptx/ptx.mk)", path);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*bytes + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *bytes, file), *bytes);
    data[*bytes] = 0;
    fclose(file);
    return data;
}

/* One of the files that ptx.mk compiled. */
static inline char *data_read(const char *name, size_t *bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%s", PTX_DATA, name);
    return file_read(path, bytes);
}

static inline struct ptx_module *parse_text(const char *text)
{
    struct ptx_error error;
    struct ptx_module *module = ptx_parse(text, strlen(text), &error);
    if (!module)
        fail_msg("%s\nin:\n%s", error.message, text);
    return module;
}

/* A module of one kernel k(u64 p, u32 n) with `body` between its braces; common registers exist. */
static inline struct ptx_module *parse_body(const char *body)
{
    size_t bytes = strlen(body) + 1024;
    char *text = malloc(bytes);
    snprintf(text, bytes,
             HEAD ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
                  ".reg .pred %%p<9>; .reg .b32 %%r<99>; .reg .b64 %%rd<99>; .reg .f32 %%f<9>;\n"
                  ".reg .f64 %%fd<9>; .reg .b16 %%rs<9>;\n%s\n}\n",
             body);
    struct ptx_module *module = parse_text(text);
    free(text);
    return module;
}

static inline const struct ptx_instruction *first_instruction(const struct ptx_module *module)
{
    return &module->functions[module->function_count - 1]->instructions[0];
}

#endif
