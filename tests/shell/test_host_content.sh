# Option host=content beyond single programs (tests/integration/host_content_*.cu): work that CUDA's own libraries
# enqueue is left aside, the summary counts, the limit of time holds, and a forked child is left alone.
tree=$(realpath "$(dirname "$test")/../..")

cat >stage.cu <<'SOURCE'
#include <cuda_runtime.h>
#include <string.h>
// Copies from a buffer of its own, and refills it at once.
extern "C" void stage(void *to, size_t bytes, cudaStream_t stream)
{
    static char *own;
    if (!own)
        cudaMallocHost((void **)&own, bytes);
    for (int turn = 0; turn < 3; turn++) {
        memset(own, turn, bytes);
        cudaMemcpyAsync(to, own, bytes, cudaMemcpyHostToDevice, stream);
    }
    memset(own, 9, bytes);
}
SOURCE
cat >main.cu <<'SOURCE'
#include <cuda_runtime.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
extern "C" void stage(void *to, size_t bytes, cudaStream_t stream);
int main(int count, char **)
{
    char *device;
    cudaStream_t stream;
    cudaMalloc((void **)&device, 8192);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    stage(device, 8192, stream);
    if (count > 1) {
        const pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
    cudaStreamSynchronize(stream);
    puts("done");
    return 0;
}
SOURCE
# staged LIBRARY: main with the functions of stage.cu in a library of that name
staged()
{
    "$nvcc" -w -g -shared -Xcompiler -fPIC -cudart shared stage.cu -o "lib$1.so" &&
        "$nvcc" -w -g -cudart shared main.cu -o "main_$1" -L. -l"$1" -Xlinker -rpath='$ORIGIN'
}
content() { run "$root/bin/csan" run --device=embedded "--options=host=content$1" "${@:2}"; }

check "a library of the program's is compared" eval 'staged staging && content "" ./main_staging; [ "$status" = 66 ] &&
    grep -q "^CSAN: data race: the host.s store before cudaStreamSynchronize (main.cu:19) does not wait for cudaMemcpyAsync (stage.cu:11)" err'
check "one race for two calls, however often" grep -q " 2 races, 0 possible" err
check "the summary counts" grep -q '^csan: host memory: 3 sources hashed, 0 not hashed (limits), 0 not compared$' err
check "work of a library of CUDA's is left aside" eval 'staged cublasstaging && content "" ./main_cublasstaging; [ "$status" = 0 ] &&
    grep -q " 0 races" err && grep -q "3 sources hashed" err'
check "a forked child is left alone" eval 'content "" ./main_staging fork; [ "$status" = 66 ] && [ "$(grep -c "^CSAN" err)" = 2 ]'
check "both ways at once" eval 'content ":host=guard+content" ./main_staging; [ "$status" = 66 ] &&
    grep -q "^csan: host memory: .* ops guarded .* sources hashed" err && [ "$(grep -c "^CSAN: .*the host.s store (" err)" -ge 1 ]'
check "another word is refused" eval 'content ":host=contents" ./main_staging; grep -q "off|guard|content|guard+content|instrumented" err'
