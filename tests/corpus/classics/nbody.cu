// Forces between all pairs of bodies: straight, and tile by tile through shared memory.
#include "../corpus.h"

enum { BLOCK = 64 };

__device__ static float3 pull(float3 force, float4 mine, float4 other)
{
    float x = other.x - mine.x, y = other.y - mine.y, z = other.z - mine.z;
    float square = x * x + y * y + z * z + 0.01f, inverse = rsqrtf(square);
    float strength = other.w * inverse * inverse * inverse;
    return make_float3(force.x + x * strength, force.y + y * strength, force.z + z * strength);
}

__global__ void forces_all(float3 *forces, const float4 *bodies, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float3 force = make_float3(0, 0, 0);
    for (int j = 0; j < n; j++)
        force = pull(force, bodies[i], bodies[j]);
    forces[i] = force;
}

__global__ void forces_tiled(float3 *forces, const float4 *bodies, int n)
{
    __shared__ float4 tile[BLOCK];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 mine = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    float3 force = make_float3(0, 0, 0);
    for (int start = 0; start < n; start += BLOCK) {
        int j = start + threadIdx.x;
        tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int k = 0; k < BLOCK; k++)
            force = pull(force, mine, tile[k]);
        __syncthreads();
    }
    if (i < n)
        forces[i] = force;
}

__global__ void bodies_move(float4 *bodies, float3 *speeds, const float3 *forces, float time, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 body = bodies[i];
        float3 speed = speeds[i], force = forces[i];
        speed.x += force.x * time;
        speed.y += force.y * time;
        speed.z += force.z * time;
        body.x += speed.x * time;
        body.y += speed.y * time;
        body.z += speed.z * time;
        bodies[i] = body;
        speeds[i] = speed;
    }
}

static std::vector<float> first_parts(const std::vector<float3> &vectors)
{
    std::vector<float> parts;
    for (float3 v : vectors)
        parts.push_back(v.x);
    return parts;
}

static void run_shape(int n)
{
    std::vector<float> raw = numbers<float>(4 * n, 16), wanted(n), moved(n);
    std::vector<float4> bodies(n);
    for (int i = 0; i < n; i++)
        bodies[i] = make_float4(raw[4 * i], raw[4 * i + 1], raw[4 * i + 2], raw[4 * i + 3]);
    for (int i = 0; i < n; i++) {
        double force = 0;
        for (int j = 0; j < n; j++) {
            double x = bodies[j].x - bodies[i].x, y = bodies[j].y - bodies[i].y;
            double z = bodies[j].z - bodies[i].z, square = x * x + y * y + z * z + 0.01;
            force += x * bodies[j].w / (square * std::sqrt(square));
        }
        wanted[i] = force;
        moved[i] = bodies[i].x + force * 0.25;
    }
    array<float4> in(bodies);
    array<float3> all(n), tiled(n), speeds(n);
    forces_all<<<blocks_for(n, BLOCK), BLOCK>>>(all, in, n);
    expect("forces_all", n, first_parts(all.get()), wanted, 1e-3);
    forces_tiled<<<blocks_for(n, BLOCK), BLOCK>>>(tiled, in, n);
    expect("forces_tiled", n, first_parts(tiled.get()), wanted, 1e-3);
    bodies_move<<<blocks_for(n, BLOCK), BLOCK>>>(in, speeds, tiled, 0.5f, n);
    std::vector<float> places;
    for (float4 body : in.get())
        places.push_back(body.x);
    expect("bodies_move", n, places, moved, 1e-3);
}

int main()
{
    for (int n : {1, 31, 130})
        run_shape(n);
    return finish();
}
