#include "index/lightweight/search.h"

/* Fan-outs for which groups of k - 1 threads divide a warp evenly. */
static int can_group(int64_t k)
{
    return k == 3 || k == 5 || k == 9 || k == 17 || k == 33;
}

/* How lookups are launched, without the pinned words. */
static kr_launch launch_by_options(const kr_spec *spec, int64_t k)
{
    const int64_t *options = spec->options;
    return (kr_launch){
        .threads = (uint32_t)options[KR_SEARCH_THREADS],
        .per_thread = (uint32_t)options[KR_SEARCH_PER_THREAD],
        .is_static = options[KR_SEARCH_SCHEDULE] == KR_SCHEDULE_STATIC,
        .reorder = (uint32_t)options[KR_SEARCH_REORDER],
        .group = options[KR_SEARCH_GROUP] ? (uint32_t)(k - 1) : 1,
    };
}

/* The first launch option that differs from its default, or NULL. */
static const kr_option *varied(const kr_spec *spec)
{
    const kr_option *options = spec->kind->options;
    for (int i = KR_SEARCH_SCHEDULE; i < KR_SEARCH_OPTIONS; ++i)
        if (spec->options[i] != options[i].standard)
            return options + i;
    return NULL;
}

int kr_search_launches(const kr_spec *spec)
{
    return varied(spec) != NULL;
}

int kr_search_keeps_on_host(const kr_spec *spec)
{
    return spec->options[KR_SEARCH_KEEP] == KR_KEEP_HOST;
}

int kr_search_sums(const kr_spec *spec, int is_range)
{
    return is_range && spec->options[KR_SEARCH_ENDS] == KR_ENDS_SCAN;
}

/* Partitioned batches are searched in a launch of their own. */
static kr_status check_probes(const kr_spec *spec, kr_error *err)
{
    const kr_option *option = varied(spec);
    const int launches = option || spec->kind->family->probes.launches(spec);
    if (launches && spec->common[KR_COMMON_PROBES] == KR_PROBES_PARTITIONED)
        return kr_fail(
            err, KR_ERR_SPEC,
            "kind '%s': probes=partitioned has a launch of its own and does not go with %s=; leave that out, "
            "or give probes=as-is",
            spec->kind->name, option ? option->name : "k");
    return KR_OK;
}

kr_status kr_search_runs_on(kr_device *device, const kr_spec *spec, kr_error *err)
{
    const int64_t pin = spec->options[KR_SEARCH_PIN], reorder = spec->options[KR_SEARCH_REORDER];
    const uint32_t given = (uint32_t)spec->options[KR_SEARCH_SHARED] * 1024;
    const uint32_t needed = given ? given : (uint32_t)KR_LAUNCH_SHARED;
    if (device->ops->is_host || device->block_nbytes >= needed || (pin == KR_PIN_NONE && !reorder))
        return KR_OK;
    return kr_fail(err, KR_ERR_UNSUPPORTED,
                   "kind '%s' on %s: pin= and reorder= with shared=%d need %u bytes of shared memory per "
                   "block, and this "
                   "GPU has %u; leave them out, or give shared=%u",
                   spec->kind->name, device->name, (int)spec->options[KR_SEARCH_SHARED], needed,
                   device->block_nbytes, device->block_nbytes / 1024);
}

const kr_program *kr_search_program(const kr_device *device, const kr_spec *spec, int64_t k,
                                    const kr_search_programs *programs)
{
    const int in_groups = spec->options[KR_SEARCH_GROUP] != 0 && device->ops->group_threads > 1;
    while (programs->k && programs->k != k)
        ++programs;
    return in_groups ? programs->group : programs->alone;
}

/* It would change nothing but that batches are not partitioned. */
static kr_status check_shared(const kr_spec *spec, kr_error *err)
{
    const int64_t *options = spec->options;
    if (options[KR_SEARCH_SHARED] == KR_LAUNCH_SHARED / 1024 || options[KR_SEARCH_PIN] != KR_PIN_NONE ||
        options[KR_SEARCH_REORDER] != KR_REORDER_NONE)
        return KR_OK;
    return kr_fail(err, KR_ERR_SPEC,
                   "kind '%s': shared=%d is the memory that pin= and reorder= may take; give one of these, "
                   "or leave out shared",
                   spec->kind->name, (int)options[KR_SEARCH_SHARED]);
}

/* What a block sorts must fit its shared memory, or the registers of its threads. */
static kr_status check_order(const kr_spec *spec, int64_t k, kr_error *err)
{
    const kr_launch launch = launch_by_options(spec, k);
    const int sorts = kr_launch_sorts(&launch);
    const uint32_t shared = (uint32_t)spec->options[KR_SEARCH_SHARED];
    const uint32_t needed = kr_launch_order_nbytes(&launch, sizeof(uint64_t));
    if (kr_launch_can_order(&launch) && shared && needed > shared * 1024)
        return kr_fail(
            err, KR_ERR_SPEC,
            "kind '%s': reorder= with threads=%u and per_thread=%u takes %u bytes, more than shared=%u "
            "KiB; give shared=%u, or a smaller per_thread",
            spec->kind->name, launch.threads, launch.per_thread, needed, shared, (needed + 1023) / 1024);
    if (kr_launch_can_order(&launch))
        return KR_OK;
    return kr_fail(err, KR_ERR_SPEC,
                   "kind '%s': reorder=%s at most %d probes of a block%s, and threads=%u with per_thread=%u "
                   "makes %u; give a smaller per_thread",
                   spec->kind->name, sorts ? "sort and sort-double hold" : "lookup and double sort",
                   sorts ? KR_LAUNCH_SORT_KEYS : KR_LAUNCH_ORDER_PROBES,
                   sorts ? ", and 16 of a thread, in registers" : "", launch.threads, launch.per_thread,
                   kr_launch_probes(&launch));
}

kr_status kr_search_settle(const kr_spec *spec, int64_t k, kr_error *err)
{
    const char *kind = spec->kind->name;
    const int threads = (int)spec->options[KR_SEARCH_THREADS];
    if (threads % 32 != 0)
        return kr_fail(err, KR_ERR_SPEC,
                       "kind '%s': threads=%d is not a multiple of 32, the threads of a warp; give %d", kind,
                       threads, threads / 32 * 32);
    if (spec->options[KR_SEARCH_GROUP] && !can_group(k))
        return kr_fail(
            err, KR_ERR_SPEC,
            "kind '%s': group=k-1 divides a warp into groups of k - 1 threads, which k=%d does not allow; "
            "give k=3, 5, 9, 17 or 33, or group=1",
            kind, (int)k);
    kr_status status = check_order(spec, k, err);
    if (status == KR_OK)
        status = check_shared(spec, err);
    return status == KR_OK ? check_probes(spec, err) : status;
}

/* Words that fit into shared memory beside those of reordering. */
static uint32_t pins(const kr_launch *launch, int64_t pin, uint32_t key_nbytes, const uint64_t *level_pins,
                     uint32_t n_levels)
{
    const uint64_t room =
        (launch->shared_nbytes - kr_launch_order_nbytes(launch, key_nbytes)) / 8 * 8 / key_nbytes;
    uint64_t steps = 0;
    if (pin == KR_PIN_NONE || n_levels == 0)
        return 0;
    for (uint32_t level = 0; level < n_levels && level_pins[level] <= room; ++level)
        steps = level_pins[level];
    const uint64_t all = level_pins[n_levels - 1];
    return (uint32_t)(pin == KR_PIN_STEPS ? steps : all < room ? all : room);
}

kr_launch kr_search_launch(const kr_spec *spec, uint32_t block_nbytes, int64_t k, uint32_t key_nbytes,
                           const uint64_t *level_pins, uint32_t n_levels)
{
    const uint32_t given = (uint32_t)spec->options[KR_SEARCH_SHARED] * 1024;
    const uint32_t all = block_nbytes > KR_LAUNCH_SHARED ? block_nbytes : (uint32_t)KR_LAUNCH_SHARED;
    kr_launch launch = launch_by_options(spec, k);
    launch.shared_nbytes = given ? given : all; /* of a smaller device kr_search_runs_on has said so */
    launch.n_pins = pins(&launch, spec->options[KR_SEARCH_PIN], key_nbytes, level_pins, n_levels);
    return launch;
}
