/* The values of small arrays that the program copied to a device, for the report of a kernel that
 * fails because of one of them: the newest copies, as long as no op that csan saw wrote there
 * since. Beside known_contents.h, whose bytes csan follows as pointers and therefore forgets at
 * each kernel that it does not know, this takes the word of a framework's operators.
 *
 * Owns its bytes: 16 copies, 64 KiB. Thread-safe, with a lock of its own that is taken last. */
#ifndef RUNTIME_HOOK_STATE_COPIED_VALUES_H
#define RUNTIME_HOOK_STATE_COPIED_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COPIED_BYTES_MOST = 4096 };

/* From here on: there is a framework, which declares its operators. Before, nothing is kept. */
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
