// The standard library's hash table.
#include "bench/baselines/maps.hpp"

#include <functional>
#include <unordered_map>

template <typename Key>
using map_of = std::unordered_map<Key, uint32_t, std::hash<Key>, std::equal_to<Key>,
                                  keyray_maps::counted<std::pair<const Key, uint32_t>>>;

extern "C" int kr_baseline_unordered_map(kr_baseline_map *job, char *text, size_t text_nbytes)
{
    static const char name[] = "std::unordered_map";
    return job->bits == 64 ? keyray_maps::run<map_of<uint64_t>>(*job, name, text, text_nbytes)
                           : keyray_maps::run<map_of<uint32_t>>(*job, name, text, text_nbytes);
}
