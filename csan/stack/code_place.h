/* A place in the program: the stack of a call as one number that is the same in every run, wherever
 * the loader puts the program's objects. csan fix names the calls by it between which a run is to
 * have one more order.
 *
 * Of each frame it takes the object (its build id, else the name of its file) and the offset there;
 * of a frame of an interpreted language file, function and line. Code in no object, such as what a
 * just-in-time compiler made, counts as a frame and no more. Only the CODE_PLACE_FRAMES innermost
 * frames count: a stack may be cut off behind them. */
#ifndef CSAN_STACK_CODE_PLACE_H
#define CSAN_STACK_CODE_PLACE_H

#include "csan/stack/module_map.h"

enum { CODE_PLACE_FRAMES = 24 };

/* `frames` are return addresses, innermost first. `modules`: the objects of the process that they
 * are of; NULL: this one. 0: there are no frames. Thread-safe but for `modules`. Not for callers
 * inside the loader. */
uint64_t code_place(const struct module_map *modules, const void *const *frames, size_t count);

#endif
