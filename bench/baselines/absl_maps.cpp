// Abseil's hash table and B-tree. Built where CMake finds Abseil.
#include "bench/baselines/maps.hpp"

#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>

template <typename Key>
using entries_of = keyray_maps::counted<std::pair<const Key, uint32_t>>;
template <typename Key>
using hash_map = absl::flat_hash_map<Key, uint32_t, absl::container_internal::hash_default_hash<Key>,
                                     absl::container_internal::hash_default_eq<Key>, entries_of<Key>>;
template <typename Key>
using tree_map = absl::btree_map<Key, uint32_t, std::less<Key>, entries_of<Key>>;

extern "C" int kr_baseline_flat_hash_map(kr_baseline_map *job, char *text, size_t text_nbytes)
{
    static const char name[] = "absl::flat_hash_map";
    return job->bits == 64 ? keyray_maps::run<hash_map<uint64_t>>(*job, name, text, text_nbytes)
                           : keyray_maps::run<hash_map<uint32_t>>(*job, name, text, text_nbytes);
}

extern "C" int kr_baseline_btree_map(kr_baseline_map *job, char *text, size_t text_nbytes)
{
    static const char name[] = "absl::btree_map";
    return job->bits == 64 ? keyray_maps::run<tree_map<uint64_t>>(*job, name, text, text_nbytes)
                           : keyray_maps::run<tree_map<uint32_t>>(*job, name, text, text_nbytes);
}
