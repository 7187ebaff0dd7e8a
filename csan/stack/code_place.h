/* A place in the program: a call's stack as one number. It is the same in every run, wherever the
 * loader puts the program's objects. csan fix uses it to name the calls between which a run gets
 * one more order.
 *
 * Each frame counts by its object (the build id, else the name of its file) and the offset there. A
 * frame of an interpreted language counts by file, function and line. Code in no object, such as
 * that of a just-in-time compiler, counts only as a frame. Only the CODE_PLACE_FRAMES innermost
 * frames count, because a stack may be cut off behind them. */
#ifndef CSAN_STACK_CODE_PLACE_H
#define CSAN_STACK_CODE_PLACE_H

#include "csan/stack/module_map.h"

enum { CODE_PLACE_FRAMES = 24 };

/* `frames` are return addresses, innermost first. `modules`: the objects of their process; NULL:
 * this process. 0: there are no frames. Thread-safe but for `modules`. Not for callers inside the
 * loader. */
uint64_t code_place(const struct module_map *modules, const void *const *frames, size_t count);

#endif
