/* A suppression of one pair of accesses:
 *
 *   pair:SIDE <-> SIDE        SIDE is NAME @ PLACE @ PLACE ...
 *
 * NAME is a template for what made the access: a kernel, an operator, a call. Each PLACE, if there
 * is any, is a template that one frame of the access's stack must match: by its function, source
 * file, source file with line (app.cu:40), or object file. The rule matches when one side matches
 * one access and the other side the other: the order does not matter, since which access is the
 * newer one changes from run to run. */
#ifndef CSAN_REPORT_SUPPRESSION_PAIR_H
#define CSAN_REPORT_SUPPRESSION_PAIR_H

#include <stdbool.h>
#include <stddef.h>

struct symbol_frame;
struct suppression_pair;

/* `text` is what follows "pair:". NULL: *wrong says what is. */
struct suppression_pair *pair_parse(const char *text, const char **wrong);
void pair_free(struct suppression_pair *pair);

/* One race after the other: begin, then both accesses (0 and 1) with all their names and frames,
 * then the question. */
void pair_begin(struct suppression_pair *pair);
void pair_see_name(struct suppression_pair *pair, int access, const char *name);
void pair_see_frame(struct suppression_pair *pair, int access, const struct symbol_frame *frame);
bool pair_matches(const struct suppression_pair *pair);

#endif
