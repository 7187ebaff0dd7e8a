/* A race's fingerprint: the number that names the same race in other runs and processes, and on
 * other machines.
 *
 * It is made of the kind of race and of both accesses: the name of the call or kernel, and each
 * frame of its stack (function, file, line). It holds no address, stream or folder, and not the
 * order of the two accesses. So address-space randomization, another working directory and another
 * schedule do not change it. A frame without a line counts by its offset in the library's file, but
 * only up to the first frame that has a line. Behind that one only function and library count,
 * because the offsets of the C library differ from machine to machine.
 *
 * A finding that is no race has one access. In place of the other it has the line of the
 * instruction that failed, if that is known. Threads, values and memory nearby do not count.
 *
 * These change it: an edit that moves a line of either stack, a renamed function or kernel, another
 * depth of stacks (options stack_depth, native_stacks), and symbolize=0. */
#ifndef CSAN_REPORT_FINGERPRINT_H
#define CSAN_REPORT_FINGERPRINT_H

#include <csan/csan.h>

#include <stdbool.h>

struct stack_frames;
struct stack_style;

/* Raised when the same race gets another number; documents carry it. */
enum { FINGERPRINT_VERSION = 2 };

struct fingerprint_side {
    const char *name; /* as recorded: a C++ kernel's is mangled */
    const struct stack_frames *stack;
    const struct stack_frames *launch_stack; /* of a graph's node: the graph's launch; else empty */
};

uint64_t fingerprint_make(int race_kind, const struct fingerprint_side sides[2]);

/* Of a finding that is no race: the kernel or call, and where the instruction that failed is,
 * "/src/scatter.cu:21"; NULL: none is known. */
uint64_t fingerprint_of_error(int race_kind, const struct fingerprint_side *side,
                              const char *place);

/* The same for a race as the detector found it. Uses the style's symbolizer. */
uint64_t fingerprint_of_race(const struct csan_race *race, const struct stack_style *style);

/* Sixteen hexadecimal digits, as documents and suppressions have them. False: it is something else.
 */
bool fingerprint_read(const char *text, uint64_t *fingerprint);

#endif
