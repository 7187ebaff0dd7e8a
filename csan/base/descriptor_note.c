/* See descriptor_note.h. */
#include "csan/base/descriptor_note.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

enum { PATH_BYTES = 64, LINE_BYTES = 256 };

static const uint64_t note_bit = UINT64_C(1) << DESCRIPTOR_NOTE_BITS;

bool descriptor_note_set(int descriptor, uint64_t number)
{
    struct flock lock = {.l_type = F_RDLCK,
                         .l_whence = SEEK_SET,
                         .l_start = (off_t)((number & (note_bit - 1)) | note_bit),
                         .l_len = 1};
    return fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}

/* "lock: 1: OFDLCK  ADVISORY  READ -1 00:05:4 FIRST LAST" */
static bool note_of(const char *line, uint64_t *number)
{
    uint64_t first, last;
    if (sscanf(line, "lock: %*d: OFDLCK %*s %*s %*d %*s %" SCNu64 " %" SCNu64, &first, &last) !=
            2 ||
        first != last || first >> DESCRIPTOR_NOTE_BITS != 1)
        return false;
    *number = first & (note_bit - 1);
    return true;
}

bool descriptor_note_get(int descriptor, uint64_t *number)
{
    char path[PATH_BYTES], line[LINE_BYTES];
    bool found = false;
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", descriptor);
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = note_of(line, number);
    if (file)
        fclose(file);
    return found;
}
