/* Writes what happens around each race as a graph for Graphviz: csan report --dot. There is a
 * cluster for each race, process and lane. Grey edges are a lane's own order, green edges are
 * waits, blue ones messages, and the dashed red one is the order that is missing. */
#ifndef RUNTIME_CLI_FINDINGS_REPORT_GRAPH_H
#define RUNTIME_CLI_FINDINGS_REPORT_GRAPH_H

#include "csan/base/text.h"
#include "runtime/cli/findings/surroundings.h"

/* One finding for each neighbourhood. */
void report_graph_add(struct text *text, struct finding *const *findings,
                      const struct surroundings *surroundings);

#endif
