/* See device_line.h. */
#include "runtime/cli/device_line.h"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Where a row of the table covers the address: up to the next row, or the end of its sequence. */
static bool find_in(Dwarf_Lines *lines, size_t count, uint64_t address, char *file,
                    size_t file_bytes, int *line)
{
    for (size_t i = 0; i + 1 < count; i++) {
        Dwarf_Addr begin, end;
        bool over = true;
        Dwarf_Line *row = dwarf_onesrcline(lines, i), *next = dwarf_onesrcline(lines, i + 1);
        if (dwarf_lineaddr(row, &begin) || dwarf_lineaddr(next, &end) ||
            dwarf_lineendsequence(row, &over) || over || address < begin || address >= end)
            continue;
        const char *source = dwarf_linesrc(row, NULL, NULL);
        if (!source || dwarf_lineno(row, line) || *line <= 0)
            continue;
        snprintf(file, file_bytes, "%s", source);
        return true;
    }
    return false;
}

static bool find(Dwarf *debug, uint64_t address, char *file, size_t file_bytes, int *line)
{
    Dwarf_Off offset = 0, next;
    Dwarf_CU *unit = NULL;
    Dwarf_Lines *lines;
    size_t count;
    while (dwarf_next_lines(debug, offset, &next, &unit, NULL, NULL, &lines, &count) == 0) {
        if (find_in(lines, count, address, file, file_bytes, line))
            return true;
        offset = next;
    }
    return false;
}

bool device_line(const char *path, uint64_t address, char *file, size_t file_bytes, int *line)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    Dwarf *debug = dwarf_begin(descriptor, DWARF_C_READ);
    const bool found = debug && find(debug, address, file, file_bytes, line);
    dwarf_end(debug);
    close(descriptor);
    return found;
}
