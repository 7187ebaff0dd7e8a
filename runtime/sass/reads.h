/* Which words (four bytes) of its parameters a launch of a kernel reads, given them: of structures
 * that are passed by value, kernels read what others of their words say is there, an array up to
 * its length. What lies behind was set for another launch, or never. Nor was the padding behind a
 * member that is less than a word: of each word some bytes are read, by whatever launch.
 *
 * A kernel's code is described as regions. Each launch reaches the first; from a region, edges lead
 * to others. An edge is taken if its condition, a comparison of parameters, holds or does not hold.
 * A launch reads what the regions that it reaches read. It also reads tables: each block reads them
 * at an index, which is the block's own index in the grid or an entry of another table.
 *
 * One piece of memory without pointers in it: it may be copied. Not changed once it is filled, and
 * then thread-safe. */
#ifndef RUNTIME_SASS_READS_H
#define RUNTIME_SASS_READS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { READS_REGIONS_MOST = 1024, READS_NO_WORD = 0xffff };
/* CUDA C++ Programming Guide, "__global__ Function Parameters": 32,764 bytes. */
enum { READS_WORDS_MOST = 1 << 13 };

enum reads_comparison {
    READS_NEVER,
    READS_LESS,
    READS_EQUAL,
    READS_LESS_EQUAL,
    READS_GREATER,
    READS_NOT_EQUAL,
    READS_GREATER_EQUAL,
    READS_ALWAYS
};

/* A word and a number, added modulo 2^32; READS_NO_WORD: the number. What is behind the last word
 * are the lessers, by their number. */
struct reads_term {
    uint32_t word, number;
};

/* The lesser of a word with a number, and another number, none with a sign. */
struct reads_lesser {
    struct reads_term of; /* of the parameters */
    uint32_t most;
};

struct reads_condition {
    struct reads_term left, right;
    uint8_t comparison; /* enum reads_comparison */
    bool is_signed;
};

struct reads_way {
    uint16_t condition, to; /* to: a region */
    bool holds;             /* or does not */
};

struct reads_region {
    uint32_t first_way, way_count;
};

/* Of so many bytes each, one at `offset` in the parameters and `every` times an index. Of up to
 * four bytes they may be indices, without a sign. */
struct reads_table {
    uint32_t offset, every, bytes;
    uint32_t index; /* a dimension of the grid, or READS_LOADED and the number of a table before */
};

enum { READS_LOADED = 3, READS_TABLES_MOST = 32, READS_TABLE_BYTES_MOST = 16 };

/* Of a word no more is read, by whatever launch, than those bytes: a mask. */
struct reads_part {
    uint32_t word, bytes;
};

enum { READS_PARTS_MOST = 64 };

struct reads {
    uint32_t words; /* of the parameters; and lessers: less than READS_NO_WORD */
    uint32_t part_count, lesser_count, table_count, condition_count, region_count, way_count;
    uint32_t room[]; /* parts, lessers, tables, conditions, ways, regions, then each region's words,
                        a bit for each */
};

/* Of those counts, to be filled, with no words read; the caller frees it. At least one region;
 * nothing is more than it may be. NULL when memory is short. */
struct reads *reads_create(const struct reads *counts);
/* A copy that has those parts instead of its own. */
struct reads *reads_narrow(const struct reads *reads, const struct reads_part *parts,
                           uint32_t count);
/* The mask of those of a word's four bytes, a bit for each. */
static inline uint32_t reads_mask(uint32_t bytes)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < 4; i++)
        mask |= (bytes >> i & 1) * (UINT32_C(0xff) << 8 * i);
    return mask;
}

/* Of it all. */
size_t reads_bytes(const struct reads *reads);
struct reads_part *reads_parts(const struct reads *reads);
struct reads_lesser *reads_lessers(const struct reads *reads);
struct reads_table *reads_tables(const struct reads *reads);
struct reads_condition *reads_conditions(const struct reads *reads);
struct reads_way *reads_ways(const struct reads *reads);
struct reads_region *reads_regions(const struct reads *reads);
/* Bit w % 32 of [w / 32] is for the word w. */
uint32_t *reads_region_words(const struct reads *reads, uint32_t region);

static inline uint32_t reads_chunks(uint32_t words)
{
    return (words + 31) / 32;
}

/* What a launch has. */
struct reads_launch {
    const void *parameters;
    uint32_t bytes; /* of them; what is missing of a word is taken to be 0 */
    uint32_t grid[3];
};

/* Of its parameters. */
uint32_t reads_word(const struct reads_launch *launch, uint32_t word);

/* Sets the bits of the words that the launch reads by the regions that it reaches, and clears the
 * others of `read`, which has reads_chunks(). */
void reads_by_regions(const struct reads *reads, const struct reads_launch *launch, uint32_t *read);

/* Clears what the launch does not read of `parameters`, which may be its own; `read` is what
 * reads_by_regions() says. */
void reads_clear_others(const struct reads *reads, const struct reads_launch *launch,
                        const uint32_t *read, void *parameters);

#endif
