# launch_blocking: the launch of a kernel that fails returns its error and is named, graphs are
# launched node by node, and races are found as before.

says() { grep -Eq -- "$1" err; }
silent_of() { ! grep -Eq -- "$1" err; }
ended() { [ "$status" = "$1" ]; }
printed() { grep -qx -- "$1" out; }

csan=$root/bin/csan
sources=$(dirname "$test")/../gpu
for program in failure failing_node; do
    "$nvcc" -g -lineinfo -arch=sm_90 -std=c++17 -cudart shared "$sources/$program.cu" -o $program
done
# The line of that text in a source.
line_of() { grep -nF -- "$2" "$sources/$1.cu" | head -1 | cut -d: -f1; }
csan_run() { run "$csan" run --device=embedded "$@"; }

csan_run ./failure far stream
check "without the option the launch succeeds" printed 'launch 0'
check "and csan says nothing of it" silent_of launch_blocking
csan_run --blocking ./failure far stream
check "--blocking: the launch returns the error" printed 'launch 700'
check "and so do later calls" printed 'then stream 700'
check "it is said that it is on" says '^csan: launch_blocking: the program waits after each kernel'
check "the launch is named" says \
    'Reported to the program as CUDA_ERROR_ILLEGAL_ADDRESS by cudaLaunchKernel, .*failure.cu:'"$(line_of failure '"far"')"'\.$'
check "it is a finding" ended 66
csan_run --blocking=kernel:^write* ./failure far stream
check "--blocking=kernel:NAME: the kernel's launch returns the error" printed 'launch 700'
csan_run --blocking=kernel:good ./failure far stream
check "another's does not" printed 'launch 0'
csan_run --blocking ./failure none stream
check "a program that is right gets no report" ended 0
check "and gets no error" printed 'launch 0'

# Of the two nodes of one kernel the first fails.
csan_run --blocking ./failing_node
check "a graph's launch returns the error" printed 'launch 700'
check "and names the node" says "#0 main .*failing_node.cu:$(line_of failing_node '1l << 40')\$"
check "by the graph's launch" says "by cudaGraphLaunch, .*failing_node.cu:$(line_of failing_node cudaGraphLaunch)\.\$"

run env CSAN_OPTIONS=launch_blocking=1 "$csan" run --device=embedded "$plain/stream_nonblocking_pair"
check "a race is found as without" ended 66
check "once" says ', 1 race, 0 possible races'
csan_run --blocking=NAME ./failure none stream
check "a value that is none is refused" ended 2
check "with what to write" says "write --blocking or --blocking=kernel:NAME"
csan_run --options=launch_blocking=2 ./failure none stream
check "so is the option's, in the program" says 'launch_blocking=2: write launch_blocking=0, '

# The entry script of the guide: off by default, loud when on, and nothing else is taken for either.
sed -n '/^#!\/bin\/sh$/,/^```$/p' "$sources/../../docs/guide/errors.md" | sed '$d' >entry.sh
chmod +x entry.sh
export PATH="$root/bin:$PATH"
run ./entry.sh ./failure none stream
check "without DEBUG_CUDA the program runs alone" silent_of 'DEBUG_CUDA|^csan'
run env DEBUG_CUDA=1 ./entry.sh ./failure far stream
check "DEBUG_CUDA=1 is said loudly" says '^DEBUG_CUDA=1: every kernel launch is waited for\. SLOW'
check "and runs the program with --blocking" printed 'launch 700'
check "with csan's exit code" ended 66
run env DEBUG_CUDA=yes ./entry.sh ./failure none stream
check "another value is refused" ended 2
