/* See host_mapping.h. */
#include "runtime/hook/failure/host_mapping.h"
#include "csan/base/path_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line of the table (proc(5), "/proc/pid/maps"): the file's name, or what the system calls the
 * mapping, "": nothing. NULL: the line is none, or of what the process does not read itself. */
static const char *line_read(char *line, struct host_mapping *mapping)
{
    unsigned long long start, end;
    char may[5];
    int name = 0;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%llx-%llx %4s %*x %*s %*u %n", &start, &end, may, &name) != 3 ||
        may[0] != 'r' || !name || strncmp(line + name, "/dev/nvidia", 11) == 0)
        return NULL;
    mapping->start = start;
    mapping->end = end;
    return line + name;
}

static bool holds(const struct host_mapping *mapping, uint64_t address)
{
    return address >= mapping->start && address < mapping->end;
}

static void words_fill(struct host_mapping *mapping, const char *name)
{
    const char *words = "memory that malloc or mmap gave";
    if (holds(mapping, (uintptr_t)&words))
        words = "the stack of the calling thread";
    else if (strcmp(name, "[heap]") == 0)
        words = "the heap";
    else if (strcmp(name, "[stack]") == 0)
        words = "the stack of the main thread";
    else if (name[0] == '/')
        words = path_name(name);
    snprintf(mapping->words, sizeof mapping->words, "%s", words);
}

bool host_mapping_find(uint64_t address, struct host_mapping *mapping)
{
    char *line = NULL;
    const char *name = NULL;
    size_t room = 0;
    bool found = false;
    FILE *file = fopen("/proc/self/maps", "re");
    while (file && !found && getline(&line, &room, file) > 0)
        found = (name = line_read(line, mapping)) != NULL && holds(mapping, address);
    if (found)
        words_fill(mapping, name);
    free(line);
    if (file)
        fclose(file);
    return found;
}
