/* Suppressions: findings that a person does not want reported, in ThreadSanitizer's file format.
 *
 * A file has one suppression a line, TYPE:TEMPLATE; empty lines and lines that begin with # say
 * nothing. A template matches a name that contains it; * stands for any characters, ^ at its
 * beginning and $ at its end for the ends of the name.
 *
 *   race:      a function, source file or object file of either access's stack, or the name of what
 *              made an access: a kernel, an operator, a call
 *   race_top:  the same, of the innermost frame of the program's own
 *   kernel:    the name of what made an access, as in the source or mangled (then whole)
 *   lib:       an object file (a library) of any frame
 *   called_from_lib:  the object file that itself called CUDA: the innermost frame's
 *   pair:      both accesses, in either order: suppression_pair.h
 *   fingerprint:  this finding alone, as a report in JSON names it: fingerprint.h. No template
 *   error:     a kind of finding that is no race ("out_of_bounds"), and behind a blank a template,
 * as for race:, if not all of that kind are meant
 *
 * A finding that is no race has one access, the launch or call that is wrong, and that of the call
 * that freed the memory, if one did. race: and error: also look at the line of a kernel that
 * failed.
 *
 * What a graph's node or a host function does has two stacks: where that was made, and where its
 * launch was called. Both count, and race_top and called_from_lib look at the top of each.
 *
 * Types that say nothing of races (thread, mutex, signal, deadlock) are passed over, so that one
 * file can serve both tools. The report asks; its lock covers the counts. */
#ifndef CSAN_REPORT_SUPPRESSION_H
#define CSAN_REPORT_SUPPRESSION_H

#include <csan/csan.h>

#include <stdbool.h>
#include <stddef.h>

struct symbolizer;
struct suppressions;

/* Read a file. What is wrong is in `message`, with file and line: of several bad lines the first;
 * the good ones are kept. NULL when the file cannot be read or memory is short. `message` is empty
 * when all is well. */
struct suppressions *suppressions_load(const char *path, char *message, size_t message_bytes);
/* The same, only to know: true when all of the file can be used. An empty path is no file. */
bool suppressions_check(const char *path, char *message, size_t message_bytes);
void suppressions_free(struct suppressions *suppressions);

/* Whether one matches the race, which has this fingerprint; the first that does is counted. The
 * fingerprint counts only where suppressions_have_fingerprints. NULL has none and matches nothing.
 */
bool suppressions_match(struct suppressions *suppressions, struct symbolizer *symbolizer,
                        const struct csan_race *race, uint64_t fingerprint);
bool suppressions_have_fingerprints(const struct suppressions *suppressions);

/* The suppressions that matched, in the file's order: from `*index`, which is stepped on; its line
 * and how often. False: no more. */
bool suppressions_next_used(const struct suppressions *suppressions, size_t *index,
                            const char **line, uint64_t *count);

/* The template against a name; NULL matches nothing. */
bool suppression_template_matches(const char *template, const char *name);

#endif
