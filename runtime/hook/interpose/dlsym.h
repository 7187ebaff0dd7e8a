/* dlsym, as programs see it: a program that asks for a function that csan stands in front of gets
 * csan's. */
#ifndef RUNTIME_HOOK_INTERPOSE_DLSYM_H
#define RUNTIME_HOOK_INTERPOSE_DLSYM_H

/* Returns what the program gets for `real`, which dlsym found by that name, and which is no
 * function of the driver. This is `real` itself if csan does not stand in front of it. Set it
 * before session_start returns. */
typedef void *dlsym_stub_function(const char *symbol, void *real);
extern dlsym_stub_function *dlsym_other_stub;

#endif
