# leak_check: what is never freed is listed by where it was allocated, and nothing else is.

says() { grep -Eq -- "$1" err; }
silent_of() { ! grep -Eq -- "$1" err; }
ended() { [ "$status" = "$1" ]; }
finds() { [ "$(grep -c '^CSAN: ' err)" = "$1" ]; }

csan=$root/bin/csan
sources=$(dirname "$test")/../gpu
"$nvcc" -g -lineinfo -arch=sm_90 -std=c++17 -cudart shared -I"$sources/../../include" "$sources/leaks.cu" -o leaks
"$nvcc" -g -arch=sm_90 -cudart shared -shared -Xcompiler -fPIC "$sources/leaking_library.cu" -o libcublas.so
csan_run() { run "$csan" run --device=embedded --options="$1" ./leaks "$2"; }

csan_run leak_check=0 some
check "without the option nothing is said" silent_of leak
check "and the program ends well" ended 0

csan_run leak_check=1 some
check "leaks are findings" ended 66
check "one for each place" finds 4
check "with count and bytes, as the program called it" \
    says '^CSAN: memory never freed: 30000 bytes in 3 allocations by cudaMalloc \(.*leaks.cu:[0-9]+\)$'
check "with its stack" says '^  #1 main .*leaks.cu:[0-9]+$'
check "the largest comes first" \
    [ "$(grep -m1 '^CSAN: ' err | sed 's/ by cuda.*//')" = "CSAN: memory never freed: 70000 bytes in 1 allocation" ]
check "managed and stream-ordered memory is listed, too" \
    [ "$(grep -c 'by cudaMallocManaged\|by cudaMallocAsync' err)" = 2 ]
check "the sum is said" says '^csan: leaks: 6 allocations, 107000 bytes, never freed$'
csan_run leak_check=1:report_limit=2 some
check "at most report_limit are listed" finds 2
check "and what is not is said" says '^csan: leaks: 2 more places'

for way in none reset abort _exit exec; do
    csan_run leak_check=1 $way
    check "$way: nothing is listed" finds 0
done
csan_run leak_check=1 none
check "what is freed, by a destructor too, registered memory and variables are no leaks" says '^csan: leaks: none$'
check "and the program ends well" ended 0

csan_run leak_check=1 pool
check "of a pool the block that was not freed is listed" finds 1
check "with its bytes" says '^CSAN: memory never freed: 2000 bytes in 1 allocation by '
check "and the pool's own memory is said" says '^csan: leaks: 1 allocation, 1048576 bytes, that a pool keeps'

csan_run leak_check=1 library
check "what a library keeps is no finding" ended 0
check "but said" says '^csan: leaks: 1 allocation, 65536 bytes, that libraries made for themselves and keep$'

run "$csan" run --device=embedded --options=leak_check=1:format=json:log_path=report.json ./leaks some
check "the report in JSON has them" [ "$(cat report.json* | grep -c '"finding": "leak"')" -ge 1 ]
