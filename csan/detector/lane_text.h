/* What reports call a lane: a stream by its letter, or by the name that the program gave it; a
 * default stream by what it is; anything else by its label. In a framework's reports all lanes go
 * by their labels, which are PyTorch's words. Not thread-safe: the context's lock covers every
 * user. */
#ifndef CSAN_DETECTOR_LANE_TEXT_H
#define CSAN_DETECTOR_LANE_TEXT_H

#include "csan/order/order.h"

/* As snprintf: writes at most `bytes` and returns how many characters there are. */
size_t lane_words(const struct lane *lane, bool framework, char *text, size_t bytes);

#endif
