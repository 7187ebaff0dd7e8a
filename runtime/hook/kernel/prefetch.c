/* Prefetches of remembered memory. See prefetch.h. */
#include "runtime/hook/kernel/prefetch.h"

/* The lines of a piece, at most so many; their number is where an address of a line has zeros. */
static uint64_t piece_pack(struct access_piece piece, size_t room)
{
    uintptr_t first = (uintptr_t)piece.start & ~(uintptr_t)(AHEAD_LINE - 1);
    size_t lines = ((uintptr_t)piece.start + piece.bytes - first + AHEAD_LINE - 1) / AHEAD_LINE;
    if (lines > room)
        lines = room;
    return piece.bytes ? first | (lines < AHEAD_LINE ? lines : AHEAD_LINE - 1) : 0;
}

void prefetch_note(struct prefetch *ahead, const struct access_piece *pieces, size_t count)
{
    size_t kept = 0, room = AHEAD_LINES;
    for (size_t i = 0; i < count && kept < AHEAD_PIECES; i++) {
        uint64_t piece = piece_pack(pieces[i], room);
        room -= piece % AHEAD_LINE;
        if (piece % AHEAD_LINE)
            __atomic_store_n(&ahead->pieces[kept++], piece, __ATOMIC_RELAXED);
    }
    if (kept < AHEAD_PIECES)
        __atomic_store_n(&ahead->pieces[kept], 0, __ATOMIC_RELAXED);
}

void prefetch_begin(const struct prefetch *ahead)
{
    for (size_t i = 0; i < AHEAD_PIECES; i++) {
        uint64_t piece = __atomic_load_n(&ahead->pieces[i], __ATOMIC_RELAXED);
        const char *line = (const char *)(uintptr_t)(piece & ~(uint64_t)(AHEAD_LINE - 1));
        if (!piece)
            break;
        for (size_t left = piece % AHEAD_LINE; left; left--, line += AHEAD_LINE)
            __builtin_prefetch(line);
    }
}
