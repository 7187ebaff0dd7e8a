// Graphs: all shortest paths, breadth-first search by levels and by a queue, label propagation.
#include "../corpus.h"

__global__ void floyd_warshall_step(int *distance, int n, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n) {
        int through = distance[i * n + k] + distance[k * n + j];
        if (through < distance[i * n + j])
            distance[i * n + j] = through;
    }
}

__global__ void floyd_warshall_row(int *distance, int n, int k)
{
    int i = blockIdx.x, to_k = distance[i * n + k];
    for (int j = threadIdx.x; j < n; j += blockDim.x)
        distance[i * n + j] = min(distance[i * n + j], to_k + distance[k * n + j]);
}

__global__ void bfs_level(int *levels, const int *starts, const int *edges, int n, int level,
                          int *changed)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || levels[v] != level)
        return;
    for (int e = starts[v]; e < starts[v + 1]; e++)
        if (levels[edges[e]] < 0) {
            levels[edges[e]] = level + 1;
            *changed = 1;
        }
}

__global__ void bfs_queue(int *levels, int *next, int *next_count, const int *queue, int count,
                          const int *starts, const int *edges, int level)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    int v = queue[i];
    for (int e = starts[v]; e < starts[v + 1]; e++)
        if (atomicCAS(&levels[edges[e]], -1, level + 1) == -1)
            next[atomicAdd(next_count, 1)] = edges[e];
}

__global__ void smallest_label(int *labels, const int2 *edges, int count)
{
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < count; e += gridDim.x * blockDim.x) {
        int2 edge = edges[e];
        atomicMin(&labels[edge.x], labels[edge.y]);
        atomicMin(&labels[edge.y], labels[edge.x]);
    }
}

__global__ void degrees_count(int *degrees, const int2 *edges, int count)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < count)
        atomicAdd(degrees + edges[e].x, 1);
}

static void run_paths(int n)
{
    std::vector<int> host = numbers<int>(n * n, 100);
    for (int i = 0; i < n; i++)
        host[i * n + i] = 0;
    array<int> a(host), b(host);
    for (int k = 0; k < n; k++) {
        floyd_warshall_step<<<dim3(blocks_for(n, 16), blocks_for(n, 4)), dim3(16, 4)>>>(a, n, k);
        floyd_warshall_row<<<n, 32>>>(b, n, k);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                host[i * n + j] = std::min(host[i * n + j], host[i * n + k] + host[k * n + j]);
    }
    expect("floyd_warshall_step", n, a.get(), host);
    expect("floyd_warshall_row", n, b.get(), host);
}

static void run_search(int n)
{
    std::vector<int> starts(n + 1), edges, levels(n, -1), queue{0};
    std::vector<int2> pairs;
    for (int v = 0; v < n; v++) {
        for (int target : {(v * 3 + 1) % n, (v * 5 + 2) % n, (v + 1) % n}) {
            edges.push_back(target);
            pairs.push_back(make_int2(v, target));
        }
        starts[v + 1] = edges.size();
    }
    levels[0] = 0;
    std::vector<int> initial(levels);
    for (size_t i = 0; i < queue.size(); i++)
        for (int e = starts[queue[i]]; e < starts[queue[i] + 1]; e++)
            if (levels[edges[e]] < 0) {
                levels[edges[e]] = levels[queue[i]] + 1;
                queue.push_back(edges[e]);
            }

    array<int> starts_in(starts), edges_in(edges), by_level(initial), changed(1);
    for (int level = 0, again = 1; again; level++) {
        changed.put({0});
        bfs_level<<<blocks_for(n, 32), 32>>>(by_level, starts_in, edges_in, n, level, changed);
        again = changed.get()[0];
    }
    expect("bfs_level", n, by_level.get(), levels);

    array<int> by_queue(initial), one(n), two(n), size(1);
    int *now = one, *next = two, count = 1;
    for (int level = 0; count; level++) {
        size.put({0});
        bfs_queue<<<blocks_for(count, 32), 32>>>(by_queue, next, size, now, count, starts_in,
                                                 edges_in, level);
        count = size.get()[0];
        std::swap(now, next);
    }
    expect("bfs_queue", n, by_queue.get(), levels);

    std::vector<int> labels(n);
    for (int v = 0; v < n; v++)
        labels[v] = v;
    array<int2> pairs_in(pairs);
    array<int> labels_out(labels), degrees(n);
    for (int round = 0; round < n; round++)
        smallest_label<<<2, 64>>>(labels_out, pairs_in, pairs.size());
    expect("smallest_label", n, labels_out.get(), std::vector<int>(n, 0));
    degrees_count<<<blocks_for(pairs.size(), 64), 64>>>(degrees, pairs_in, pairs.size());
    expect("degrees_count", n, degrees.get(), std::vector<int>(n, 3));
}

int main()
{
    run_paths(1);
    run_paths(21);
    for (int n : {1, 31, 100})
        run_search(n);
    return finish();
}
