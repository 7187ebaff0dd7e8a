/* See lines.h. */
#include "runtime/python/lines.h"

#include <stdint.h>

struct reader {
    const unsigned char *at, *end;
};

/* Pairs of bytes: how far the instructions go on, and how far the line does then. */
static long line_by_pairs(struct reader table, long line, size_t instruction)
{
    size_t begin = 0;
    for (; table.end - table.at >= 2; table.at += 2) {
        begin += table.at[0];
        if (begin > instruction)
            break;
        line += (signed char)table.at[1];
    }
    return line;
}

/* Pairs of bytes: how far the line goes on, for so many bytes of instructions; -128: no line. */
static long line_by_ranges(struct reader table, long line, size_t instruction)
{
    enum { NONE = -128 };
    size_t end = 0;
    for (; table.end - table.at >= 2; table.at += 2) {
        signed char step = (signed char)table.at[1];
        end += table.at[0];
        line += step == NONE ? 0 : step;
        if (instruction < end)
            return step == NONE ? 0 : line;
    }
    return 0;
}

/* Six bits a byte, the lowest first; bit 6: more follow. */
static unsigned long read_number(struct reader *table)
{
    unsigned long number = 0;
    for (unsigned shift = 0; table->at < table->end && shift < 32; shift += 6) {
        unsigned char byte = *table->at++;
        number |= (unsigned long)(byte & 63) << shift;
        if (!(byte & 64))
            break;
    }
    return number;
}

static long read_signed(struct reader *table)
{
    unsigned long number = read_number(table);
    return number & 1 ? -(long)(number >> 1) : (long)(number >> 1);
}

/* Entries: a byte of bit 7, a form of four bits and a length of three, then what the form has. Only
 * first bytes of entries have bit 7, by which columns are skipped. */
static long line_by_locations(struct reader table, long line, size_t instruction)
{
    enum { UNIT = 2, ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NONE = 15 };
    size_t end = 0;
    while (table.at < table.end) {
        unsigned char entry = *table.at++;
        unsigned form = entry >> 3 & 15;
        end += (size_t)((entry & 7) + 1) * UNIT;
        if (form == NO_COLUMNS || form == LONG)
            line += read_signed(&table);
        else if (form >= ONE_LINE && form < NO_COLUMNS)
            line += form - ONE_LINE;
        if (instruction < end)
            return form == NONE ? 0 : line;
        while (table.at < table.end && !(*table.at & 128))
            table.at++;
    }
    return 0;
}

unsigned python_line(enum python_lines kind, const unsigned char *table, size_t bytes,
                     int first_line, size_t instruction)
{
    struct reader reader = {table, table + bytes};
    long line = kind == PYTHON_LNOTAB   ? line_by_pairs(reader, first_line, instruction)
                : kind == PYTHON_RANGES ? line_by_ranges(reader, first_line, instruction)
                                        : line_by_locations(reader, first_line, instruction);
    return line > 0 && line <= INT32_MAX ? (unsigned)line : 0;
}
