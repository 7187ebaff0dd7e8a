/* Which functions an address is in, by a module's debug entries: the function of that code, and the
 * functions that were inlined there. A unit's functions are read once. libdw's dwarf_getscopes
 * reads the whole unit for each address, and a unit of C++ headers takes it 30 ms. */
#ifndef RUNTIME_CLI_FUNCTION_INDEX_H
#define RUNTIME_CLI_FUNCTION_INDEX_H

#include <elfutils/libdw.h>

struct function_index; /* of one module, whose units are read as they are asked for */

/* The functions that hold the address, innermost first: those that were inlined, and last the one
 * that they were inlined into. At most `most` are put into `functions`. *index is NULL at first;
 * the caller frees it. 0: none is known, or memory is short. Not thread-safe. */
int function_index_find(struct function_index **index, Dwarf_Die *unit, Dwarf_Addr address,
                        Dwarf_Die *functions, int most);

void function_index_free(struct function_index *index);

#endif
