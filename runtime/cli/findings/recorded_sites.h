/* The sites of a recording by number: their names, and where in the source the program made the
 * call. The symbolizer looks a place up when it is asked for. For one thread, and one recording at
 * a time, because frames of an interpreted language have one source in the process. */
#ifndef RUNTIME_CLI_FINDINGS_RECORDED_SITES_H
#define RUNTIME_CLI_FINDINGS_RECORDED_SITES_H

#include "csan/recording/recording_read.h"
#include "csan/stack/stack_frames.h"

struct options;
struct recorded_sites;

/* `directory`: source paths are shortened relative to it. NULL: no memory. */
struct recorded_sites *recorded_sites_create(const struct options *options, const char *directory);
void recorded_sites_destroy(struct recorded_sites *sites);

/* Takes an entry that defines a site, or a part of sites; ignores others. */
void recorded_sites_take(struct recorded_sites *sites, const struct recorded *recorded);

/* The name as in the source, also if it was mangled; NULL: there is no such site. Valid for the
 * sites' life. */
const char *recorded_sites_name(struct recorded_sites *sites, uint64_t number);

/* Where a person looks first; for a graph's node, where the graph was launched. NULL: not known.
 * Valid for the sites' life. */
const struct stack_frame *recorded_sites_place(struct recorded_sites *sites, uint64_t number);

#endif
