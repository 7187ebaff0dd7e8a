/* The values of small arrays that the program copied to a device. The report of a kernel that fails
 * because of such a value uses them. Kept are the newest copies, as long as no op that csan saw
 * wrote there.
 *
 * known_contents.h keeps bytes that csan follows as pointers, so it forgets them at each kernel
 * that it does not know. This file believes the declarations of a framework's operators instead.
 *
 * Owns its bytes: 16 copies, 64 KiB. Thread-safe, with a lock of its own that is taken last. */
#ifndef RUNTIME_HOOK_STATE_COPIED_VALUES_H
#define RUNTIME_HOOK_STATE_COPIED_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COPIED_BYTES_MOST = 4096 };

/* There is a framework that declares its operators. Before this call nothing is kept. */
void copied_values_want(void);

/* The host copied those bytes to [base, base + bytes), at most COPIED_BYTES_MOST. */
void copied_values_note(uint64_t base, uint64_t bytes, const void *source);

/* Something else was written there, or may have been. */
void copied_values_forget(uint64_t base, uint64_t bytes);
void copied_values_forget_all(void);
/* False: copied_values_forget need not be called. */
bool copied_values_any(void);

/* The `bytes` bytes at `address`, as they were copied; false: not known. */
bool copied_values_read(uint64_t address, uint64_t bytes, void *to);

#endif
