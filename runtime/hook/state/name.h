/* Names of kernels, once each for as long as the process lives: sites are remembered by their
 * address. */
#ifndef RUNTIME_HOOK_STATE_NAME_H
#define RUNTIME_HOOK_STATE_NAME_H

/* The name as written in the source where `demangle` (__cxa_demangle, or NULL) can say it: races
 * read from code have it then, too. The report asks its helper for the others. */
const char *name_of_kernel(const char *text, void *demangle);

#endif
