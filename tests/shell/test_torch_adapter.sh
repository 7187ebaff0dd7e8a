# The PyTorch adapter: what is said where PyTorch is missing or too old; and, with a Python that has
# PyTorch (python3, or the one that CSAN_TORCH_PYTHON names), the samples on the embedded device,
# whose kernels do nothing there while streams, events and memory are as on a GPU.

csan=$root/bin/csan
tests=$(dirname "$(dirname "$(realpath "$test")")")/torch
samples=$(dirname "$(dirname "$tests")")/samples/torch
says() { grep -Eq -- "$1" err; }
ended() { [ "$status" = "$1" ]; }
printed() { [ "$(cat out)" = "$1" ]; }
export CSAN_MACHINE_CODE=skip

if ! command -v python3 >/dev/null; then
    echo "skipped $(basename "$test" .sh): there is no python3"
    return 0
fi

mkdir -p old/torch other
printf '__version__ = "2.1.2"\n' >old/torch/__init__.py
printf 'print("another sitecustomize")\n' >other/sitecustomize.py
run env PYTHONPATH=$PWD/old "$csan" run --device=embedded python3 -c 'import torch; print("ran")'
check "an old PyTorch is named" says 'PyTorch 2\.1\.2 is too old, csan needs 2\.3'
check "and the program runs on" printed ran
run env PYTHONPATH=$PWD/old "$csan" run --device=embedded python3 -c \
    'import importlib.util; importlib.util.find_spec("torch"); import torch; print("ran")'
check "who asks where PyTorch is takes nothing from its import" says 'PyTorch 2\.1\.2 is too old'
mkdir site
cp -r "$root"/lib/csan/python/csan_torch* site/
installed='import site; site.addsitedir("site"); import torch; print("ran")'
run env CSAN=1 PYTHONPATH=$PWD/old python3 -c "$installed"
check "the installed package switches itself on where CSAN=1 is set" says 'PyTorch 2\.1\.2 is too old'
run env PYTHONPATH=$PWD/old python3 -c "$installed"
check "and stays silent where it is not" eval '[ ! -s err ] && printed ran'
run env PYTHONPATH=$PWD/other "$csan" run --device=embedded python3 -c 'print("ran")'
check "another sitecustomize is not lost" printed 'another sitecustomize
ran'
run "$csan" run --device=embedded python3 -c 'print("ran")'
check "a program without PyTorch hears nothing of it" eval '! says PyTorch'
run env CSAN_OPTIONS=operators=0 PYTHONPATH=$PWD/old "$csan" run --device=embedded python3 -c 'import torch'
check "with operators=0 only memory is followed" says "too old.*: its caching allocator is not followed"

# A user's compiler has the package alone, and of it this folder.
native=$root/lib/csan/python/csan_torch/native
run_foreign gcc -fsyntax-only -I"$native" "$native/forward_stacks.c"
check "the adapter's C finds its headers in the package" [ "$status" = 0 ]
missing=$(sed -En 's/^#include ["<]((csan|runtime)\/[^">]*|[^"\/>]*)".*/\1/p; s/^#include <(csan\/[^>]*)>.*/\1/p' \
    "$native/adapter.cpp" | while read -r header; do [ -e "$native/$header" ] || echo "$header"; done)
check "and so does its C++" [ -z "$missing" ]

python=${CSAN_TORCH_PYTHON:-python3}
if ! "$python" -c 'import torch' 2>/dev/null; then
    echo "skipped the rest of $(basename "$test" .sh): $python has no PyTorch (set CSAN_TORCH_PYTHON)"
    return 0
fi
export CSAN_CACHE=$PWD/cache
sampled() { grep -q "^ok $1\$" out; }
run "$python" "$tests/check_samples.py" "$csan" "$samples" --device=embedded example overlapping batch \
    missing non_blocking
for name in example_error overlapping_view missing_record_stream non_blocking_copy batch_copied_ahead; do
    check "$name is reported with its lines" sampled $name
    check "${name}_fixed is silent" sampled ${name}_fixed
done

on() { run "$csan" run --device=embedded "$python" "$@"; }
on "$samples/example_error.py"
check "PyTorch's exception ends the program" says '^csan_torch.errors.CUDASanitizerErrors: detected 1 errors'
check "with the exit code of findings" ended 66
check "the operator by its schema" says '^aten::mul.out\(Tensor self, Tensor other, \*, Tensor\(a!\) out\)'
check "its arguments in PyTorch's words" says '^writing to argument\(s\) self, out, and to the output$'
check "the operator that was called, not what it calls" says '^aten::rand\('
check "its output in PyTorch's words" says '^writing to the output$'
run env PATH=/nonexistent "$csan" run --device=embedded "$(command -v "$python")" "$samples/example_error.py"
check "an adapter that is there needs no compiler" eval '! says "dispatch mode" && says "to the output"'
printf '#!/bin/sh\nfor i in $(seq 200); do echo "error $i"; done >&2\nexit 1\n' >broken-c++
chmod +x broken-c++
run env CXX="$PWD/broken-c++" "$csan" run --device=embedded "$python" "$samples/example_error.py"
log=$(sed -nE 's/^csan: no adapter for PyTorch .*broken-c\+\+ failed to build it, see (.*)\): operators are .*/\1/p' err)
check "a compiler's failure is one line" [ "$(grep -c '^error\|^csan: .*adapter' err)" = 2 ]
check "that names a log with what the compiler said" grep -qx 'error 200' "$log"
check "and a dispatch mode takes the adapter's place" ended 66
CSAN_OPTIONS=halt_on_error=0 on "$samples/example_error.py"
check "halt_on_error=0 goes on" ended 66
check "without an exception" eval '! says CUDASanitizerErrors'
CSAN_OPTIONS=native_stacks=1 on "$samples/example_error.py"
check "native_stacks=1 shows what Python called" says '^  Native .*(at::|cu[A-Z]|torch)'
on "$tests/programs/backward_stack.py"
check "a backward function shows its forward call" says 'It is part of the backward pass of the operator called at:'
check "with its line" says 'return \(weight \* weight\)'
check "and not the line before" eval '! says "makes no backward function"'
on "$tests/programs/function_stack.py"
check "a Function of the program's shows where it was applied" says 'backward pass of the operator called at:'
check "with its line" says 'function_stack.py", line 22, in <module>'
check "and not the line before, of the same number" eval '! says "line 21"'
CSAN_OPTIONS=verbosity=1:host_guard_us=1000000 on "$tests/programs/checkpoint_race.py"
check "of a checkpoint at rest, too" eval 'says "operators rest after" && says "backward pass of the operator called at:"'
check "with the line that the backward pass ran" says 'checkpoint_race.py", line 13, in loss'
on "$tests/programs/quiet.py"
check "what is in order is silent" eval 'says ", 0 races, 0 possible races" && printed quiet'
CSAN_OPTIONS=halt_on_error=0 on "$tests/programs/python_in_operator.py"
check "Python that an operator calls shows its own lines" says 'in change'
check "and is named by that operator" says '^csan_test::both\('
check "and not by what ran there before" eval '! says "in leave_alone"'
CSAN_OPTIONS=python_stacks=0 on "$samples/example_error.py"
check "stacks that Python is asked for are the same" says 'line 6, in <module>|line 8, in <module>'
check "of the allocation, too" eval 'grep -A1 "^Tensor was allocated" err | grep -q "example_error.py"'
