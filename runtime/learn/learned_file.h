/* Learned sets on disk: one file for each image and version of csan, in one directory that all
 * processes of a user share.
 *
 *   IMAGE-VERSION.learned = magic, u32 crc of all that follows, u64 bytes unpacked, zstd of
 *   image    = version text, two words of the image, kernels, each: name, uses of its parameters
 *              (parameter_uses.c), signatures
 *   signature    = bytes, number of scalars and of anchors, which scalars are kept and which pinned
 *              (bits), flags, access classes, entries
 *   access class   = launches, set
 *   entry    = state, reason, seen, launches, the kept scalars, then its bound, or its variants
 *   variant  = number of its access class, seen, launches, whether it is narrow, then that set
 *   set      = inexact, ranges, each: anchor, kind, whole and dims, offset (difference to the one
 *              before, zigzag), bytes, strides and counts; relations, each: from, to
 *              times two and whether it is assumed, distance (zigzag)
 *
 * Numbers are LEB128, but where a size is named. A file is read when a kernel of its image is first
 * asked for, and at the end written anew beside the old one and renamed onto it. What other
 * processes wrote meanwhile is merged first, under a lock of the directory: a set that differs
 * makes the key dependent. Where there is no lock to be had, nothing is damaged, and the last one
 * wins. Sets of memory without an anchor are left out. Beyond the limit of bytes the files that
 * were not used for longest go. A file that is damaged is said once, and not read. */
#ifndef RUNTIME_LEARN_LEARNED_FILE_H
#define RUNTIME_LEARN_LEARNED_FILE_H

#include "runtime/learn/learner_state.h"

#define LEARNED_SUFFIX ".learned"

/* Adds what the image's file has, if there is one that can be read. */
void learned_file_read(const struct learner_options *options, struct image_state *image);
/* Before and after files are written: the lock, -1 when others hold it for two seconds. Afterwards
 * the directory is within its limit. */
int learned_directory_lock(const struct learner_options *options);
void learned_directory_unlock(const struct learner_options *options, int lock);
bool learned_file_write(const struct learner_options *options, struct image_state *image);

/* The file's contents from now on are these, or, where they cannot be written (false), what they
 * were. */
bool learned_file_replace(const char *path, const uint8_t *bytes, size_t count);

/* A file's bytes, which is then the last to go; free() them. NULL with `message`, "" if there is no
 * file. */
uint8_t *learned_file_contents(const char *path, size_t *bytes, char *message,
                               size_t message_bytes);

/* Any file's contents, for csan kernels --learned. NULL with `message` saying why. */
struct image_state *learned_file_open(const char *path, char *message, size_t message_bytes);

/* The same of a file's bytes; NULL: it is damaged or another version's. */
struct image_state *learned_file_take(const uint8_t *contents, size_t bytes);
/* A file of that image, unpacked; free() it. NULL when it is too large or memory is short. */
uint8_t *learned_file_pack(const uint8_t *plain, size_t plain_bytes, size_t *bytes);
/* What was packed; free() it. NULL: it is damaged. */
uint8_t *learned_file_unpack(const uint8_t *contents, size_t bytes, size_t *unpacked_bytes);

/* The version that files' names have: csan's, and their format's. */
void learned_version(char *text, size_t bytes);

/* The directory by csan's rule: learned in CSAN_CACHE, or in csan below XDG_CACHE_HOME or ~/.cache.
 * False: there is none. */
bool learned_directory(char *path, size_t bytes);

#endif
