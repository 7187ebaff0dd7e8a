/* dlsym, as programs see it: who asks for a function that csan stands in front of is given csan's.
 */
#ifndef RUNTIME_HOOK_INTERPOSE_DLSYM_H
#define RUNTIME_HOOK_INTERPOSE_DLSYM_H

/* What to hand out for `real`, which dlsym found by that name and is none of the driver's: itself
 * where csan does not stand in front of it. Set before session_start returns. */
typedef void *dlsym_stub_function(const char *symbol, void *real);
extern dlsym_stub_function *dlsym_other_stub;

#endif
