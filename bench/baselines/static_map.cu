// cuCollections' hash table from key to row, for a batch of probes on a GPU, at its best settings. Its
// headers stay outside of this tree: built where KEYRAY_PEERS names a folder with cuCollections.
#include "bench/baselines/timed_runs.cuh"
#include "bench/bench.h"

#include <cuda/functional>
#include <cuda/version>

#if CCCL_MAJOR_VERSION >= 3
// Older versions of cuCollections need it, and CUDA 13 no longer has it.
namespace thrust
{
template <typename T = void>
struct identity {
    template <typename U>
    __host__ __device__ U operator()(U x) const
    {
        return x;
    }
};
} // namespace thrust
#endif

#include <cuco/static_map.cuh>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <vector>

namespace
{

struct map_memory {
    timed_runs timed;
    void *rows = nullptr;

    ~map_memory()
    {
        cudaFree(rows);
    }
};

// The greatest value that is not a key marks empty slots.
template <typename Key>
Key absent_key(const kr_baseline_batch &batch)
{
    const Key *sorted = static_cast<const Key *>(batch.sorted_keys);
    Key absent = ~Key(0);
    for (uint64_t i = batch.n; i > 0 && sorted[i - 1] == absent; --i)
        --absent;
    return absent;
}

// One setting. Keeps its seconds if they beat those of the settings before. Rows are as wide as keys, as the
// map compares and exchanges a whole slot.
template <typename Key, int Threads>
cudaError_t measure_setting(kr_baseline_batch &batch, double load, std::vector<double> &best)
{
    using probing = cuco::linear_probing<Threads, cuco::default_hash_function<Key>>;
    map_memory m;
    std::vector<double> seconds(batch.runs);
    const Key *keys = static_cast<const Key *>(batch.keys), *probes = static_cast<const Key *>(batch.probes);
    cudaError_t status = m.timed.prepare(batch.probes);
    if (status == cudaSuccess)
        status = cudaMalloc(&m.rows, batch.n_probes * sizeof(Key));
    if (status != cudaSuccess)
        return status;
    Key *rows = static_cast<Key *>(m.rows);
    const auto capacity = static_cast<std::size_t>(static_cast<double>(batch.n) / load) + 1;
    cuco::static_map<Key, Key, cuco::extent<std::size_t>, cuda::thread_scope_device, thrust::equal_to<Key>,
                     probing>
        map{capacity, cuco::empty_key<Key>{absent_key<Key>(batch)}, cuco::empty_value<Key>{KR_NO_ROW}};
    const auto pair_of = cuda::proclaim_return_type<cuco::pair<Key, Key>>([keys] __device__(Key row) {
        return cuco::pair<Key, Key>{keys[row], row};
    });
    const auto pairs = thrust::make_transform_iterator(thrust::counting_iterator<Key>(0), pair_of);
    map.insert(pairs, pairs + batch.n);
    status = m.timed.measure(
        batch.runs, seconds.data(),
        [&] {
            map.find_async(probes, probes + batch.n_probes, rows);
            return cudaGetLastError();
        },
        batch.calls);
    if (status != cudaSuccess)
        return status;
    const auto middle = [](std::vector<double> s) { // the first run warms up
        std::nth_element(s.begin() + 1, s.begin() + 1 + (s.size() - 1) / 2, s.end());
        return s[1 + (s.size() - 1) / 2];
    };
    if (!best.empty() && middle(best) <= middle(seconds))
        return cudaSuccess;
    best = seconds;
    batch.footprint_nbytes = map.capacity() * sizeof(cuco::pair<Key, Key>);
    snprintf(batch.setting, sizeof batch.setting, "load %g, threads per probe: %d", load, Threads);
    std::vector<Key> found(batch.count);
    status = cudaMemcpy(found.data(), rows + batch.first, batch.count * sizeof(Key), cudaMemcpyDeviceToHost);
    std::transform(found.begin(), found.end(), batch.answers,
                   [](Key row) { return static_cast<uint32_t>(row); });
    return status;
}

template <typename Key>
cudaError_t measure(kr_baseline_batch &batch, bool only_default)
{
    std::vector<double> best;
    cudaError_t status = measure_setting<Key, 4>(batch, 0.5, best);
    for (const double load : {0.5, 0.75}) {
        if (status == cudaSuccess && !only_default && load != 0.5)
            status = measure_setting<Key, 4>(batch, load, best);
        if (status == cudaSuccess && !only_default)
            status = measure_setting<Key, 2>(batch, load, best);
        if (status == cudaSuccess && !only_default)
            status = measure_setting<Key, 1>(batch, load, best);
    }
    std::copy(best.begin(), best.end(), batch.seconds);
    return status;
}

int run(kr_baseline_batch &batch, bool only_default, char *text, size_t text_nbytes)
{
    try {
        const cudaError_t status = batch.bits == 64 ? measure<uint64_t>(batch, only_default)
                                                    : measure<uint32_t>(batch, only_default);
        if (status == cudaSuccess)
            return 0;
        snprintf(text, text_nbytes, "cuco::static_map failed: %s", cudaGetErrorString(status));
    } catch (const std::exception &error) {
        snprintf(text, text_nbytes, "cuco::static_map failed: %s", error.what());
    }
    return 1;
}

} // namespace

extern "C" int kr_baseline_static_map_default(kr_baseline_batch *batch, char *text, size_t text_nbytes)
{
    return run(*batch, true, text, text_nbytes);
}

extern "C" int kr_baseline_static_map_best(kr_baseline_batch *batch, char *text, size_t text_nbytes)
{
    return run(*batch, false, text, text_nbytes);
}
