// Maps from key to row, each built and searched on one thread as its users would: reserved where it can be, filled
// in row order, searched one probe after the other.
#ifndef KEYRAY_BENCH_MAPS_HPP
#define KEYRAY_BENCH_MAPS_HPP

#include "bench/bench.h"

#include <chrono>
#include <cstdio>
#include <exception>
#include <new>

namespace keyray_maps
{

inline uint64_t held_nbytes; // by all maps; malloc's own bytes are not counted

template <typename T>
struct counted {
    using value_type = T;
    counted() = default;
    template <typename U>
    counted(const counted<U> &)
    {
    }
    T *allocate(std::size_t n)
    {
        T *memory = static_cast<T *>(::operator new(n * sizeof(T)));
        held_nbytes += n * sizeof(T);
        return memory;
    }
    void deallocate(T *memory, std::size_t n)
    {
        held_nbytes -= n * sizeof(T);
        ::operator delete(memory);
    }
    template <typename U>
    bool operator==(const counted<U> &) const
    {
        return true;
    }
    template <typename U>
    bool operator!=(const counted<U> &) const
    {
        return false;
    }
};

inline double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Trees have nothing to reserve.
template <typename Map>
auto reserve(Map &map, uint64_t n, int) -> decltype(map.reserve(n))
{
    map.reserve(n);
}
template <typename Map>
void reserve(Map &, uint64_t, long)
{
}

template <typename Map>
void build(const kr_baseline_map &job, Map &map)
{
    const auto *keys = static_cast<const typename Map::key_type *>(job.keys);
    reserve(map, job.n, 0);
    for (uint64_t i = 0; i < job.n; ++i)
        map.emplace(keys[i], static_cast<uint32_t>(i));
}

template <typename Map>
void search(const kr_baseline_map &job, const Map &map)
{
    const auto *probes = static_cast<const typename Map::key_type *>(job.probes);
    for (uint64_t i = 0; i < job.n_probes; ++i) {
        const auto found = map.find(probes[i]);
        job.answers[i] = found == map.end() ? KR_NO_ROW : found->second;
    }
}

// The last build is searched.
template <typename Map>
int run(kr_baseline_map &job, const char *name, char *text, size_t text_nbytes)
{
    try {
        for (uint32_t i = 0; i < job.builds; ++i) {
            Map map;
            const double begin = now();
            build(job, map);
            job.build_seconds[i] = now() - begin;
            job.footprint_nbytes = held_nbytes;
            for (uint32_t k = 0; k < job.runs && i + 1 == job.builds; ++k) {
                const double start = now();
                search(job, map);
                job.seconds[k] = now() - start;
            }
        }
        return 0;
    } catch (const std::exception &error) {
        snprintf(text, text_nbytes, "%s failed: %s", name, error.what());
        return 1;
    }
}

} // namespace keyray_maps

#endif
