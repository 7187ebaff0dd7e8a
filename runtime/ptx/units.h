/* The units of one program: texts of PTX that are linked together, one of each unit. A whole
 * program has one unit, one of -rdc=true as many as it has source files. This module decides which
 * architecture's text csan reads of a unit, for launches and for everything that describes
 * launches. */
#ifndef RUNTIME_PTX_UNITS_H
#define RUNTIME_PTX_UNITS_H

#include "runtime/ptx/fatbin.h"
#include "runtime/ptx/ptx.h"

/* Whether texts[index] is the one that is read of its unit, the first. Texts are in fatbin_texts's
 * order, the newest first, which is what the embedded device runs; or as units_choose left them. */
bool units_reads(const struct fatbin_text *texts, size_t index);

/* Puts in front of each unit's texts the one that a device of this architecture (90 for compute
 * capability 9.0) runs, so that it is the one that is read. A device runs the newest machine code
 * of its major version that is not newer than itself; else what the driver compiles from the newest
 * PTX that is not newer (CUDA C++ Programming Guide, "Binary Compatibility", "PTX Compatibility").
 * Code may differ from architecture to architecture by __CUDA_ARCH__. False: a unit has no such
 * text; the others are as before. */
bool units_choose(struct fatbin_text *texts, size_t count, const struct fatbin_machine_code *code,
                  uint32_t device);

/* Called for a text that does not parse, and with text NULL when the units cannot be linked. */
typedef void units_failed(void *user, const struct fatbin_text *text,
                          const struct ptx_error *error);

/* Parses the text of each unit and links them: a unit that does not parse is left out. The caller
 * releases the module; NULL when there is none. `failed` may be NULL. */
struct ptx_module *units_link(const struct fatbin_text *texts, size_t count, units_failed *failed,
                              void *user);

#endif
