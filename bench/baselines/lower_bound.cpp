// Binary search of the standard library, one probe after the other: the baseline for the CPU figures.
#include "bench/bench.h"

#include <algorithm>
#include <chrono>

#define TEXT_OF(number) #number
#define AS_TEXT(number) TEXT_OF(number)

extern "C" const char *kr_baseline_std_version(void)
{
#if defined(_GLIBCXX_RELEASE)
    return "libstdc++ " AS_TEXT(_GLIBCXX_RELEASE);
#elif defined(_LIBCPP_VERSION)
    return "libc++ " AS_TEXT(_LIBCPP_VERSION);
#else
    return "";
#endif
}

template <typename Key>
static void search(const void *sorted_keys, uint64_t n, const void *probes, uint64_t n_probes,
                   uint32_t *positions)
{
    const Key *keys = static_cast<const Key *>(sorted_keys);
    const Key *wanted = static_cast<const Key *>(probes);
    for (uint64_t i = 0; i < n_probes; ++i)
        positions[i] = static_cast<uint32_t>(std::lower_bound(keys, keys + n, wanted[i]) - keys);
}

extern "C" double kr_baseline_lower_bound(uint32_t bits, const void *sorted_keys, uint64_t n,
                                          const void *probes, uint64_t n_probes, uint32_t *positions)
{
    const auto begin = std::chrono::steady_clock::now();
    if (bits == 64)
        search<uint64_t>(sorted_keys, n, probes, n_probes, positions);
    else
        search<uint32_t>(sorted_keys, n, probes, n_probes, positions);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
