/* Names of kernels. Each is kept once, for as long as the process lives, because sites are
 * remembered by the name's address. */
#ifndef RUNTIME_HOOK_STATE_NAME_H
#define RUNTIME_HOOK_STATE_NAME_H

/* The name as written in the source, if `demangle` (__cxa_demangle, or NULL) can produce it:
 * handlers that get races in code then have it, too. For the other names a report asks its helper.
 */
const char *name_of_kernel(const char *text, void *demangle);

#endif
