/* Device-side printf and assert. The format string and the arguments lie where the kernel put them:
 * the arguments one after the other, aligned to their sizes, floats as doubles, as C's promotions
 * make them (CUDA C++ Programming Guide, "Formatted Output"). */
#include "runtime/device/exec/builtin/exec_print.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_LIMIT = 4096, OUTPUT_LIMIT = 16384, PRINT_ARGUMENTS = 32 };

void print_text(struct exec_state *state, bool error, const char *text, size_t bytes)
{
    const struct exec_launch *launch = &state->launch;
    if (launch->print)
        launch->print(launch->print_user, error, text, bytes);
    else
        fwrite(text, 1, bytes, error ? stderr : stdout);
}

/* Where the next argument is read, and the text so far. */
struct printing {
    struct warp *warp;
    int lane;
    uint64_t next;
    size_t length;
    int arguments;
    char output[OUTPUT_LIMIT];
};

static uint64_t take_argument(struct printing *p, uint64_t bytes)
{
    p->next = (p->next + bytes - 1) / bytes * bytes;
    const uint8_t *from = space_generic(p->warp, p->lane, p->next, bytes, false);
    uint64_t value = 0;
    if (from)
        memcpy(&value, from, bytes);
    p->next += bytes;
    p->arguments++;
    return value;
}

__attribute__((format(printf, 2, 3))) static void append(struct printing *p, const char *format,
                                                         ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof p->output - p->length;
    int wrote = vsnprintf(p->output + p->length, room, format, arguments);
    va_end(arguments);
    if (wrote > 0)
        p->length += (size_t)wrote < room ? (size_t)wrote : room - 1;
}

/* One conversion, from '%' on. */
struct directive {
    char flags[8];
    int width, precision; /* -1: none */
    bool wide;            /* a 64-bit integer */
    char conversion;
    size_t length; /* of its text */
};

static int read_number(struct printing *p, const char **text)
{
    if (**text == '*') {
        ++*text;
        return (int)take_argument(p, 4);
    }
    int number = 0;
    while (**text >= '0' && **text <= '9')
        number = number < 100000 ? number * 10 + (*(*text)++ - '0') : (++*text, number);
    return number;
}

static struct directive read_directive(struct printing *p, const char *text)
{
    struct directive d = {.width = -1, .precision = -1};
    const char *start = text++;
    size_t flags = 0;
    while (*text && strchr("-+ #0", *text)) {
        if (flags + 1 < sizeof d.flags)
            d.flags[flags++] = *text;
        text++;
    }
    if (*text == '*' || (*text >= '1' && *text <= '9'))
        d.width = read_number(p, &text);
    if (d.width < -1) { /* a negative width from '*' means left-justified */
        d.width = -d.width;
        if (flags + 1 < sizeof d.flags)
            d.flags[flags] = '-';
    }
    if (*text == '.') {
        text++;
        d.precision = read_number(p, &text);
    }
    while (*text && strchr("hlLqjzt", *text)) {
        d.wide |= *text != 'h' && *text != 'L';
        text++;
    }
    d.conversion = *text;
    d.length = (size_t)(text - start) + (*text != 0);
    return d;
}

static void print_integer(struct printing *p, const struct directive *d)
{
    char format[32];
    uint64_t value = take_argument(p, d->wide ? 8 : 4);
    if (!d->wide && (d->conversion == 'd' || d->conversion == 'i'))
        value = (uint64_t)(int64_t)(int32_t)value;
    snprintf(format, sizeof format, "%%%s*.*ll%c", d->flags, d->conversion);
    append(p, format, d->width < 0 ? 0 : d->width, d->precision, (unsigned long long)value);
}

static void print_float(struct printing *p, const struct directive *d)
{
    char format[32];
    uint64_t bits = take_argument(p, 8);
    double value;
    memcpy(&value, &bits, 8);
    snprintf(format, sizeof format, "%%%s*.*%c", d->flags, d->conversion);
    append(p, format, d->width < 0 ? 0 : d->width, d->precision, value);
}

static void print_string(struct printing *p, const struct directive *d)
{
    char format[32], text[TEXT_LIMIT];
    uint64_t address = take_argument(p, 8);
    if (address)
        space_text(p->warp, p->lane, address, text, sizeof text);
    else
        strcpy(text, "(null)");
    snprintf(format, sizeof format, "%%%s*.*s", d->flags);
    append(p, format, d->width < 0 ? 0 : d->width, d->precision, text);
}

static void print_character(struct printing *p, const struct directive *d)
{
    int value = (int)(take_argument(p, 4) & 0xff);
    int width = d->width < 0 ? 0 : d->width;
    bool left = strchr(d->flags, '-') != NULL;
    append(p, "%*s", left ? 0 : width > 1 ? width - 1 : 0, "");
    if (p->length + 1 < sizeof p->output)
        p->output[p->length++] = (char)value; /* a NUL too */
    append(p, "%*s", left && width > 1 ? width - 1 : 0, "");
}

static void print_directive(struct printing *p, const struct directive *d, const char *text)
{
    switch (d->conversion) {
    case '%':
        append(p, "%%");
        break;
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        print_integer(p, d);
        break;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        print_float(p, d);
        break;
    case 'c':
        print_character(p, d);
        break;
    case 's':
        print_string(p, d);
        break;
    case 'p': /* as the device prints it: with 0x, a null pointer as (nil) */
        append(p, "%p", (void *)(uintptr_t)take_argument(p, 8));
        break;
    default: /* not a conversion: printed as it stands */
        append(p, "%.*s", (int)d->length, text);
    }
}

int print_format(struct warp *warp, int lane, uint64_t format, uint64_t arguments)
{
    char text[TEXT_LIMIT];
    if (!format)
        return -1;
    struct printing *p = malloc(sizeof *p);
    if (!p)
        return -1;
    *p = (struct printing){.warp = warp, .lane = lane, .next = arguments};
    space_text(warp, lane, format, text, sizeof text);
    for (const char *at = text; *at;) {
        size_t plain = strcspn(at, "%");
        append(p, "%.*s", (int)plain, at);
        at += plain;
        if (!*at)
            break;
        struct directive d = read_directive(p, at);
        if (p->arguments > PRINT_ARGUMENTS)
            break;
        print_directive(p, &d, at);
        at += d.length;
    }
    int count = p->arguments;
    print_text(warp->state, false, p->output, p->length);
    free(p);
    return count;
}

void print_assertion(struct warp *warp, int lane, const struct exec_assertion *assertion)
{
    char text[2048];
    const uint32_t *block = warp->block->id;
    int bytes = snprintf(
        text, sizeof text,
        "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
        assertion->file, assertion->line, assertion->function, block[0], block[1], block[2],
        warp->tid[0][lane], warp->tid[1][lane], warp->tid[2][lane], assertion->expression);
    print_text(warp->state, true, text, (size_t)bytes);
}
