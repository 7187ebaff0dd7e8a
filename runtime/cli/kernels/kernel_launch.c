/* A launch as it is written on the command line. See kernel_launch.h. */
#include "runtime/cli/kernels/kernel_launch.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where pointers given by name lie: far from each other and from anything real, aligned as
 * allocations are. */
enum { NAME_SHIFT = 40, ARGUMENT_TEXT = 64 };
#define NAME_START (UINT64_C(1) << 50)

struct launch_name {
    char *text;
    uint32_t param_offset;
    uint64_t added;
};

static bool fail(char *message, size_t message_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool fail(char *message, size_t message_bytes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, message_bytes, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- Numbers ---- */

/* An integer in any base, all of the text: 10, 0x1f, 017, 0b11, with a sign. */
static bool parse_integer(const char *text, uint64_t *value)
{
    char *end;
    bool negative = *text == '-';
    const char *digits = text + (*text == '-' || *text == '+');
    bool binary = digits[0] == '0' && (digits[1] == 'b' || digits[1] == 'B');
    if (!isdigit((unsigned char)*digits))
        return false;
    errno = 0;
    *value = binary ? strtoull(digits + 2, &end, 2) : strtoull(digits, &end, 0);
    if (errno || *end || end == digits + (binary ? 2 : 0))
        return false;
    if (negative)
        *value = -*value;
    return true;
}

/* 2.5, 1e-3, 2f, 2.5f; *single: it ends in f. Hexadecimal integers end in f too: they are none. */
static bool parse_float(const char *text, double *value, bool *single)
{
    size_t length = strlen(text);
    char copy[ARGUMENT_TEXT], *end;
    const char *digits = text + (*text == '-' || *text == '+');
    bool hexadecimal = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    bool has_point = strpbrk(text, ".") || (!hexadecimal && strpbrk(text, "eE"));
    if (length == 0 || length >= sizeof copy ||
        !(isdigit((unsigned char)*digits) || *digits == '.'))
        return false;
    memcpy(copy, text, length + 1);
    *single = !hexadecimal && (copy[length - 1] == 'f' || copy[length - 1] == 'F');
    if (*single)
        copy[length - 1] = '\0';
    else if (!has_point)
        return false;
    *value = strtod(copy, &end);
    return *end == '\0' && end != copy;
}

static bool is_name(const char *text)
{
    return isalpha((unsigned char)*text) || *text == '_';
}

/* ---- The text ---- */

/* X, Y, Z of one of the sizes. */
static bool parse_size(const char *key, char *const *words, size_t count, uint32_t to[3],
                       char *message, size_t message_bytes)
{
    if (count == 0 || count > 3)
        return fail(message, message_bytes, "%s takes one to three numbers: %s=128 or %s=16,16,1",
                    key, key, key);
    for (size_t i = 0; i < 3; i++) {
        uint64_t value = 1;
        if (i < count && (!parse_integer(words[i], &value) || value == 0 || value > INT32_MAX))
            return fail(message, message_bytes, "%s is '%s'; write a number from 1 to 2147483647",
                        key, words[i]);
        to[i] = (uint32_t)value;
    }
    return true;
}

static bool take_key(struct kernel_launch *launch, const char *key, char **words, size_t count,
                     char *message, size_t message_bytes)
{
    uint64_t value = 0;
    if (strcmp(key, "grid") == 0)
        return parse_size(key, words, count, launch->grid, message, message_bytes);
    if (strcmp(key, "block") == 0)
        return parse_size(key, words, count, launch->block, message, message_bytes);
    if (strcmp(key, "cluster") == 0)
        return parse_size(key, words, count, launch->cluster, message, message_bytes);
    if (strcmp(key, "shared") == 0) {
        if (count != 1 || !parse_integer(words[0], &value) || value > UINT32_MAX)
            return fail(message, message_bytes, "shared takes one number of bytes: shared=4096");
        launch->shared = (uint32_t)value;
        return true;
    }
    if (strcmp(key, "args") == 0) {
        launch->arguments = malloc((count + 1) * sizeof *launch->arguments);
        if (!launch->arguments)
            return fail(message, message_bytes, "memory is short");
        memcpy(launch->arguments, words, count * sizeof *words);
        launch->argument_count = (uint32_t)count;
        return true;
    }
    return fail(
        message, message_bytes,
        "there is no '%s' in a launch; write grid=, block=, shared=, cluster= or args=", key);
}

/* Cuts at commas outside of braces; blanks around words go. *next is behind the comma, or NULL. */
static char *cut_word(char *at, char **next)
{
    unsigned depth = 0;
    char *end = at;
    for (; *end && (depth || *end != ','); end++) {
        depth += *end == '{';
        depth -= *end == '}' && depth;
    }
    *next = *end ? end + 1 : NULL;
    *end = '\0';
    while (isspace((unsigned char)*at))
        at++;
    while (end > at && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return at;
}

bool launch_parse(struct kernel_launch *launch, const char *text, char *message,
                  size_t message_bytes)
{
    *launch = (struct kernel_launch){.grid = {1, 1, 1}, .block = {1, 1, 1}};
    char *key = NULL, *next = launch->text = strdup(text);
    char **words = launch->text ? malloc((strlen(text) + 1) * sizeof *words) : NULL;
    size_t count = 0;
    bool sound = words != NULL, has_grid = false, has_block = false;
    if (!words)
        fail(message, message_bytes, "memory is short");
    while (sound && next) {
        char *word = cut_word(next, &next), *equals = strchr(word, '=');
        if (equals) {
            if (key)
                sound = take_key(launch, key, words, count, message, message_bytes);
            *equals = '\0';
            key = word;
            word = equals + 1;
            count = 0;
            has_grid |= strcmp(key, "grid") == 0;
            has_block |= strcmp(key, "block") == 0;
            if (sound && strcmp(key, "args") == 0 && launch->arguments)
                sound = fail(message, message_bytes, "args stands there twice");
            if (!*word && !next)
                continue; /* args= of a kernel without any */
        }
        if (sound && !key)
            sound = fail(message, message_bytes, "'%s' belongs to nothing; start with grid=", word);
        words[count++] = word;
    }
    if (sound && key)
        sound = take_key(launch, key, words, count, message, message_bytes);
    if (sound && !(has_grid && has_block))
        sound = fail(message, message_bytes, "it lacks %s: write grid=BLOCKS,block=THREADS",
                     has_grid ? "block" : "grid");
    free(words);
    if (sound && (uint64_t)launch->block[0] * launch->block[1] > 1024 / launch->block[2])
        sound = fail(message, message_bytes, "a block has at most 1024 threads");
    return sound;
}

/* ---- Arguments ---- */

/* Where an argument goes. */
struct target {
    struct kernel_launch *launch;
    uint32_t index;  /* of the parameter */
    uint32_t offset; /* in the parameter buffer */
    uint32_t bytes;
    char *message;
    size_t message_bytes;
};

static bool fail_argument(const struct target *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool fail_argument(const struct target *to, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fail(to->message, to->message_bytes, "argument %" PRIu32 ": %s", to->index, text);
}

static void put(const struct target *to, const void *bytes, size_t count)
{
    memcpy(to->launch->bytes + to->offset, bytes, count);
}

/* The number of the name: the same name, the same memory. */
static size_t name_number(const struct kernel_launch *launch, const char *text)
{
    size_t number = 0;
    for (size_t i = 0; i < launch->name_count; i++) {
        size_t first = 0;
        while (strcmp(launch->names[first].text, launch->names[i].text) != 0)
            first++;
        if (strcmp(launch->names[i].text, text) == 0)
            break;
        number += first == i;
    }
    return number;
}

static bool put_name(const struct target *to, const char *text)
{
    struct kernel_launch *launch = to->launch;
    const char *plus = strchr(text, '+');
    size_t length = plus ? (size_t)(plus - text) : strlen(text);
    uint64_t added = 0;
    if (strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") < length ||
        (plus && !parse_integer(plus + 1, &added)))
        return fail_argument(to, "'%s' is no name; write p0 or p0+128", text);
    if (to->bytes != 8)
        return fail_argument(to, "'%s' names a pointer, and this is a value of %" PRIu32 " bytes",
                             text, to->bytes);
    struct launch_name *grown = realloc(launch->names, (launch->name_count + 1) * sizeof *grown);
    char *copy = grown ? strndup(text, length) : NULL;
    if (grown)
        launch->names = grown;
    if (!copy)
        return fail_argument(to, "memory is short");
    uint64_t value = NAME_START + ((uint64_t)name_number(launch, copy) << NAME_SHIFT) + added;
    launch->names[launch->name_count++] = (struct launch_name){copy, to->offset, added};
    put(to, &value, sizeof value);
    return true;
}

static bool put_float(const struct target *to, double value, const char *text)
{
    float narrow = (float)value;
    if (to->bytes == sizeof value)
        put(to, &value, sizeof value);
    else if (to->bytes == sizeof narrow)
        put(to, &narrow, sizeof narrow);
    else
        return fail_argument(to, "'%s' is a float, and this is a value of %" PRIu32 " bytes", text,
                             to->bytes);
    return true;
}

/* Whether the value is the same in so few bytes, signed or not. */
static bool fits(uint64_t value, uint32_t bytes)
{
    if (bytes == 0 || bytes >= 8)
        return bytes != 0;
    uint64_t high = value >> (8 * bytes - 1);
    return high >> 1 == 0 || high == UINT64_MAX >> (8 * bytes - 1);
}

static bool put_integer(const struct target *to, uint64_t value, const char *text)
{
    if (to->bytes > sizeof value)
        return fail_argument(to,
                             "'%s' is one number, and this is a struct of %" PRIu32
                             " bytes; write {%s,...} or hex:",
                             text, to->bytes, text);
    if (!fits(value, to->bytes))
        return fail_argument(to, "'%s' does not fit into %" PRIu32 " bytes", text, to->bytes);
    put(to, &value, to->bytes);
    return true;
}

static bool put_hex(const struct target *to, const char *digits)
{
    size_t length = strlen(digits);
    if (length != (size_t)to->bytes * 2 || strspn(digits, "0123456789abcdefABCDEF") != length)
        return fail_argument(
            to, "this takes %" PRIu32 " bytes, two hexadecimal digits each; hex: has %zu digits",
            to->bytes, length);
    for (uint32_t i = 0; i < to->bytes; i++) {
        char pair[3] = {digits[i * 2], digits[i * 2 + 1]};
        to->launch->bytes[to->offset + i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return true;
}

static bool put_argument(const struct target *to, char *text);

/* How many bytes a member of a struct takes by its spelling; an l for long is taken off. */
static uint32_t member_bytes(char *text)
{
    double number;
    bool single;
    size_t length = strlen(text);
    if (is_name(text))
        return strncmp(text, "hex:", 4) == 0 ? (uint32_t)(length - 4) / 2 : 8;
    if (parse_float(text, &number, &single))
        return single ? 4 : 8;
    if (length > 1 && (text[length - 1] == 'l' || text[length - 1] == 'L')) {
        text[length - 1] = '\0';
        return 8;
    }
    return 4;
}

static bool put_struct(const struct target *to, char *text)
{
    size_t length = strlen(text);
    uint32_t at = 0;
    if (text[length - 1] != '}')
        return fail_argument(to, "the struct '%s' lacks its }", text);
    text[length - 1] = '\0';
    char *next = text + 1;
    while (next && (*next || at)) {
        char *word = cut_word(next, &next);
        uint32_t bytes = member_bytes(word), align = bytes <= 8 ? bytes : 1;
        at = align ? (at + align - 1) / align * align : at;
        if (!*word || *word == '{' || at > to->bytes || bytes > to->bytes - at)
            return fail_argument(
                to, "the member '%s' at byte %" PRIu32 " does not go into %" PRIu32 " bytes", word,
                at, to->bytes);
        struct target member = *to;
        member.offset += at;
        member.bytes = bytes;
        if (!put_argument(&member, word))
            return false;
        at += bytes;
    }
    return true;
}

static bool put_argument(const struct target *to, char *text)
{
    uint64_t integer;
    double number;
    bool single;
    if (strncmp(text, "hex:", 4) == 0)
        return put_hex(to, text + 4);
    if (*text == '{')
        return put_struct(to, text);
    if (is_name(text))
        return put_name(to, text);
    if (parse_integer(text, &integer))
        return put_integer(to, integer, text);
    if (parse_float(text, &number, &single))
        return put_float(to, number, text);
    return fail_argument(to,
                         "'%s' is nothing that csan knows; write a number, 2.5f, p0, hex:..., "
                         "{...} or ?",
                         text);
}

/* ---- Binding ---- */

static void forget_binding(struct kernel_launch *launch)
{
    for (size_t i = 0; i < launch->name_count; i++)
        free(launch->names[i].text);
    free(launch->names);
    free(launch->bytes);
    free(launch->parameters);
    launch->names = NULL;
    launch->bytes = NULL;
    launch->parameters = NULL;
    launch->name_count = 0;
}

/* A floating-point parameter takes an integer's value, not its bits. */
static bool bind_one(struct target *to, const struct ptx_param *param, const char *word)
{
    uint64_t integer;
    bool is_float = param->type == PTX_F32 || param->type == PTX_F64;
    char *copy = strdup(word); /* it is cut into pieces, and may be bound again */
    bool sound = copy != NULL;
    if (!copy)
        return fail_argument(to, "memory is short");
    if (is_float && parse_integer(copy, &integer) && strncmp(copy, "0x", 2) != 0)
        sound = put_float(to, (double)(int64_t)integer, copy);
    else
        sound = put_argument(to, copy);
    free(copy);
    return sound;
}

bool launch_bind(struct kernel_launch *launch, const struct ptx_function *function, char *message,
                 size_t message_bytes)
{
    forget_binding(launch);
    launch->bytes = calloc((size_t)function->param_bytes + 1, 1);
    launch->parameters = calloc((size_t)function->param_count + 1, sizeof *launch->parameters);
    if (!launch->bytes || !launch->parameters)
        return fail(message, message_bytes, "memory is short");
    if (!launch->arguments)
        return true;
    if (launch->argument_count != function->param_count)
        return fail(message, message_bytes,
                    "args has %" PRIu32 " of the kernel's %" PRIu32
                    " arguments; write ? for what is not known",
                    launch->argument_count, function->param_count);
    for (uint32_t i = 0; i < function->param_count; i++) {
        const struct ptx_param *param = &function->params[i];
        struct target to = {launch, i, param->offset, param->size, message, message_bytes};
        if (strcmp(launch->arguments[i], "?") == 0)
            continue;
        if (!bind_one(&to, param, launch->arguments[i]))
            return false;
        launch->parameters[i] = launch->bytes + param->offset;
    }
    return true;
}

const char *launch_name_at(const struct kernel_launch *launch, uint32_t param_offset,
                           uint64_t *added)
{
    for (size_t i = 0; i < launch->name_count; i++)
        if (launch->names[i].param_offset == param_offset) {
            *added = launch->names[i].added;
            return launch->names[i].text;
        }
    return NULL;
}

bool launch_pointer_at(const struct kernel_launch *launch, const struct ptx_function *function,
                       uint32_t param_index, uint32_t param_offset, uint64_t *value)
{
    if (!launch->parameters || param_index >= function->param_count ||
        !launch->parameters[param_index] || function->param_bytes < sizeof *value ||
        param_offset > function->param_bytes - sizeof *value)
        return false;
    memcpy(value, launch->bytes + param_offset, sizeof *value);
    return true;
}

void launch_release(struct kernel_launch *launch)
{
    forget_binding(launch);
    free(launch->arguments);
    free(launch->text);
    *launch = (struct kernel_launch){0};
}
