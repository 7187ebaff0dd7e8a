/* Windows of NCCL: memory that each rank of a communicator registers, for the others to access
 * (NCCL documentation, "Window Registration"). A recording says which memory a rank's window is,
 * and at which addresses the other ranks have it here. csan merge --order puts them together.
 *
 * Where the library says at which address this process has a rank's window, it is there: kernels
 * use that address. Else the window gets addresses that no process has, which ncclPutSignal's op
 * uses. Where nothing is recorded, there are no windows. */
#ifndef RUNTIME_HOOK_LIBRARY_WINDOW_H
#define RUNTIME_HOOK_LIBRARY_WINDOW_H

/* Windows that the calling thread registered in a group have their handles now: the outermost group
 * has ended. `made`: it succeeded. */
void windows_of_group(int made);

#endif
