/* Sums as a person writes them. See symbolic_sum.h. */
#include "runtime/access/symbolic_sum.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *symbolic_sum_print(struct arena *arena, bool *cut, const char *format, ...)
{
    char text[SYMBOLIC_SUM_TEXT + 1];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0)
        length = 0;
    if ((size_t)length >= sizeof text) {
        length = SYMBOLIC_SUM_TEXT;
        memcpy(text + SYMBOLIC_SUM_TEXT - 3, "...", 4);
        if (cut)
            *cut = true;
    }
    return ptx_arena_text(arena, text, (size_t)length);
}

struct symbolic_sum *symbolic_sum_constant(struct arena *arena, int64_t constant)
{
    struct symbolic_sum *sum = ptx_arena_allocate(arena, sizeof *sum);
    sum->constant = constant;
    return sum;
}

struct symbolic_sum *symbolic_sum_term(struct arena *arena, struct symbolic_sum_term term)
{
    struct symbolic_sum *sum = symbolic_sum_constant(arena, 0);
    if (term.coefficient)
        sum->terms[sum->count++] = term;
    return sum;
}

bool symbolic_sum_is_constant(const struct symbolic_sum *sum, int64_t *constant)
{
    *constant = sum->constant;
    return sum->count == 0;
}

bool symbolic_sum_has_negative(const struct symbolic_sum *sum)
{
    for (uint32_t i = 0; i < sum->count; i++)
        if (sum->terms[i].coefficient < 0)
            return true;
    return sum->constant < 0;
}

/* ---- Order: as one writes it ---- */

/* Rows before columns, blocks before threads, in a product the block's index before its size, and
 * parameters last, which scale or offset the others. */
static unsigned rank(const char *text)
{
    if (text[0] == '(')
        return strstr(text, "Idx") ? 0 : 5;
    if (strncmp(text, "blockIdx", 8) == 0)
        return 1;
    if (strncmp(text, "threadIdx", 9) == 0)
        return 2;
    return strncmp(text, "arg", 3) == 0 || text[0] == '{' ? 4 : 3;
}

static int compare_text(const char *left, const char *right)
{
    unsigned a = rank(left), b = rank(right);
    return a != b ? (a < b ? -1 : 1) : strcmp(left, right);
}

static int compare_terms(const void *left, const void *right)
{
    const struct symbolic_sum_term *a = left, *b = right;
    if (a->pointer != b->pointer)
        return a->pointer > b->pointer ? -1 : 1;
    return compare_text(a->text, b->text);
}

/* ---- Algebra ---- */

static uint64_t magnitude(int64_t number)
{
    return number < 0 ? -(uint64_t)number : (uint64_t)number;
}

static int64_t wrapping_multiply(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t wrapping_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Adds one term; one too many makes the last "...", of which nothing is known. */
static void add_term(struct symbolic_sum *sum, const struct symbolic_sum_term *term, int64_t scale)
{
    int64_t coefficient = wrapping_multiply(term->coefficient, scale);
    for (uint32_t i = 0; i < sum->count && !term->cut; i++) {
        if (sum->terms[i].cut || strcmp(sum->terms[i].text, term->text) != 0)
            continue;
        sum->terms[i].coefficient = wrapping_add(sum->terms[i].coefficient, coefficient);
        if (sum->terms[i].coefficient == 0) {
            memmove(&sum->terms[i], &sum->terms[i + 1], (sum->count - i - 1) * sizeof *sum->terms);
            sum->count--;
        }
        return;
    }
    if (coefficient == 0)
        return;
    if (sum->count == SYMBOLIC_SUM_TERMS) {
        sum->terms[SYMBOLIC_SUM_TERMS - 1] =
            (struct symbolic_sum_term){.coefficient = 1, .text = "...", .cut = true};
        return;
    }
    sum->terms[sum->count] = *term;
    sum->terms[sum->count++].coefficient = coefficient;
}

struct symbolic_sum *symbolic_sum_add(struct arena *arena, const struct symbolic_sum *a,
                                      const struct symbolic_sum *b, int64_t scale)
{
    struct symbolic_sum *sum = ptx_arena_allocate(arena, sizeof *sum);
    *sum = *a;
    sum->constant = wrapping_add(a->constant, wrapping_multiply(b->constant, scale));
    for (uint32_t i = 0; i < b->count; i++)
        add_term(sum, &b->terms[i], scale);
    if (sum->count)
        qsort(sum->terms, sum->count, sizeof *sum->terms, compare_terms);
    return sum;
}

int64_t symbolic_sum_content(const struct symbolic_sum *sum, bool constant_too)
{
    uint64_t divisor = constant_too ? magnitude(sum->constant) : 0;
    for (uint32_t i = 0; i < sum->count; i++) {
        uint64_t a = magnitude(sum->terms[i].coefficient);
        while (a) {
            uint64_t rest = divisor % a;
            divisor = a;
            a = rest;
        }
    }
    if (divisor == 0 || divisor > INT64_MAX)
        return 1;
    return sum->count && sum->terms[0].coefficient < 0 ? -(int64_t)divisor : (int64_t)divisor;
}

bool symbolic_sum_divide(struct arena *arena, const struct symbolic_sum *sum, int64_t divisor,
                         struct symbolic_sum **result)
{
    if (divisor == 0 || divisor == -1)
        return divisor &&
               (*result = symbolic_sum_add(arena, symbolic_sum_constant(arena, 0), sum, -1));
    if (sum->constant % divisor)
        return false;
    for (uint32_t i = 0; i < sum->count; i++)
        if (sum->terms[i].coefficient % divisor)
            return false;
    struct symbolic_sum *quotient = ptx_arena_allocate(arena, sizeof *quotient);
    *quotient = *sum;
    quotient->constant /= divisor;
    for (uint32_t i = 0; i < sum->count; i++)
        quotient->terms[i].coefficient /= divisor;
    *result = quotient;
    return true;
}

struct symbolic_sum *symbolic_sum_multiply(struct arena *arena, const struct symbolic_sum *a,
                                           const struct symbolic_sum *b)
{
    int64_t constant;
    if (symbolic_sum_is_constant(a, &constant))
        return symbolic_sum_add(arena, symbolic_sum_constant(arena, 0), b, constant);
    if (symbolic_sum_is_constant(b, &constant))
        return symbolic_sum_add(arena, symbolic_sum_constant(arena, 0), a, constant);
    struct symbolic_sum *left, *right;
    int64_t outside = symbolic_sum_content(a, true), more = symbolic_sum_content(b, true);
    if (!symbolic_sum_divide(arena, a, outside, &left) ||
        !symbolic_sum_divide(arena, b, more, &right))
        return symbolic_sum_constant(arena, 0); /* not reached: a content divides */
    struct symbolic_sum_term term = {.coefficient = wrapping_multiply(outside, more)};
    const char *first = symbolic_sum_factor(arena, left, &term.cut);
    const char *second = symbolic_sum_factor(arena, right, &term.cut);
    bool swap = compare_text(first, second) > 0;
    term.text =
        symbolic_sum_print(arena, &term.cut, "%s*%s", swap ? second : first, swap ? first : second);
    /* A counter times a value that does not change is also known at the loop's end. */
    const struct symbolic_sum *counted = left->count == 1 && left->terms[0].counter ? left : right;
    if (counted->count == 1 && counted->terms[0].counter && counted->constant == 0 &&
        counted->terms[0].coefficient == 1 && !counted->terms[0].step) {
        term.counter = counted->terms[0].counter;
        term.step = counted == left ? right : left;
    }
    return symbolic_sum_term(arena, term);
}

/* ---- Text ---- */

struct writer {
    char text[SYMBOLIC_SUM_TEXT * 2];
    size_t length;
    bool cut;
};

static void write_text(struct writer *writer, const char *text)
{
    size_t bytes = strlen(text), room = sizeof writer->text - 1 - writer->length;
    if (bytes > room) {
        bytes = room;
        writer->cut = true;
    }
    memcpy(writer->text + writer->length, text, bytes);
    writer->length += bytes;
    writer->text[writer->length] = '\0';
}

static void write_number(struct writer *writer, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    write_text(writer, text);
}

static void write_sign(struct writer *writer, bool negative)
{
    if (writer->length)
        write_text(writer, negative ? " - " : " + ");
    else if (negative)
        write_text(writer, "-");
}

static void write_term(struct writer *writer, const struct symbolic_sum_term *term,
                       int64_t coefficient)
{
    write_sign(writer, coefficient < 0);
    if (magnitude(coefficient) != 1) {
        write_number(writer, magnitude(coefficient));
        write_text(writer, "*");
    }
    write_text(writer, term->text);
    writer->cut |= term->cut;
}

/* The terms, each divided by `divisor`, without the constant. A sum does not start with a minus
 * when that can be helped. */
static void write_terms(struct writer *writer, const struct symbolic_sum *sum, int64_t divisor)
{
    struct writer inside = {.length = 0};
    uint32_t first = 0;
    while (first < sum->count && sum->terms[first].coefficient < 0)
        first++;
    if (first == sum->count)
        first = 0;
    write_term(&inside, &sum->terms[first], sum->terms[first].coefficient / divisor);
    for (uint32_t i = 0; i < sum->count; i++)
        if (i != first)
            write_term(&inside, &sum->terms[i], sum->terms[i].coefficient / divisor);
    write_text(writer, inside.text);
    writer->cut |= inside.cut;
}

const char *symbolic_sum_text(struct arena *arena, const struct symbolic_sum *sum, bool *cut)
{
    struct writer writer = {.length = 0};
    int64_t divisor = sum->count > 1 ? symbolic_sum_content(sum, false) : 1;
    if (divisor < 0)
        divisor = -divisor;
    if (divisor > 1) {
        write_number(&writer, (uint64_t)divisor);
        write_text(&writer, "*(");
    }
    if (sum->count)
        write_terms(&writer, sum, divisor);
    if (divisor > 1)
        write_text(&writer, ")");
    if (sum->constant || !sum->count) {
        write_sign(&writer, sum->constant < 0);
        write_number(&writer, magnitude(sum->constant));
    }
    if (cut)
        *cut |= writer.cut;
    return symbolic_sum_print(arena, cut, "%s", writer.text);
}

const char *symbolic_sum_factor(struct arena *arena, const struct symbolic_sum *sum, bool *cut)
{
    const char *text = symbolic_sum_text(arena, sum, cut);
    bool one = sum->count == 1 && sum->constant == 0 && sum->terms[0].coefficient == 1;
    bool number = sum->count == 0 && sum->constant >= 0;
    return one || number ? text : symbolic_sum_print(arena, cut, "(%s)", text);
}
