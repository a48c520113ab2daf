// A table with a row for each value from the lowest key to the highest: a plain gather, the least that a
// lookup of keys that are close together can be.
#include "bench/bench.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <vector>

namespace
{

double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Backwards, so that the first row of equal keys stays.
template <typename Key>
void build(const kr_baseline_map &job, std::vector<uint32_t> &rows, Key &lowest)
{
    const Key *keys = static_cast<const Key *>(job.keys);
    const auto ends = std::minmax_element(keys, keys + job.n);
    lowest = *ends.first;
    rows.assign(static_cast<size_t>(*ends.second - lowest) + 1, KR_NO_ROW);
    for (uint64_t i = job.n; i-- > 0;)
        rows[keys[i] - lowest] = static_cast<uint32_t>(i);
}

template <typename Key>
void search(const kr_baseline_map &job, const std::vector<uint32_t> &rows, Key lowest)
{
    const Key *probes = static_cast<const Key *>(job.probes);
    for (uint64_t i = 0; i < job.n_probes; ++i) {
        const Key at = probes[i] - lowest;
        job.answers[i] = at < rows.size() ? rows[at] : KR_NO_ROW;
    }
}

template <typename Key>
void run(kr_baseline_map &job)
{
    for (uint32_t i = 0; i < job.builds; ++i) {
        std::vector<uint32_t> rows;
        Key lowest = 0;
        const double begin = now();
        build(job, rows, lowest);
        job.build_seconds[i] = now() - begin;
        job.footprint_nbytes = rows.size() * sizeof rows[0];
        for (uint32_t k = 0; k < job.runs && i + 1 == job.builds; ++k) {
            const double start = now();
            search(job, rows, lowest);
            job.seconds[k] = now() - start;
        }
    }
}

} // namespace

extern "C" int kr_baseline_gather(kr_baseline_map *job, char *text, size_t text_nbytes)
{
    try {
        if (job->bits == 64)
            run<uint64_t>(*job);
        else
            run<uint32_t>(*job);
        return 0;
    } catch (const std::exception &error) {
        snprintf(text, text_nbytes, "a plain gather failed: %s", error.what());
        return 1;
    }
}
