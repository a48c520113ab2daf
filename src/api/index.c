/* kr_index_*: check the arguments, resolve the spec, report. */
#include "index/texts/index.h"
#include "api/call.h"
#include "base/util/structs.h"
#include "index/kinds/choose.h"
#include "index/lookup/kept.h"
#include "index/lookup/plan.h"

#include <stdio.h>
#include <string.h>

/* Texts become u32 codes. Without data, only an estimate is wanted. */
static kr_status check_key_column(kr_device *device, const kr_column *keys, kr_column *codes, kr_error *err)
{
    if (!keys || !kr_strings_are(keys->type)) {
        const kr_status status = kr_column_check_shape(device, keys, "keys", NULL, err);
        if (status == KR_OK)
            *codes = *keys;
        return status;
    }
    kr_column checked = *keys;
    if (!keys->data)
        checked.count = 0;
    *codes = (kr_column){.type = KR_U32, .count = keys->count, .validity = keys->validity};
    return kr_strings_check(device, &checked, "keys", NULL, err);
}

/* The checks that create, estimate and explain start with. */
static kr_status resolve(kr_device *device, const char *spec, const kr_column *keys, const uint32_t *row_ids,
                         kr_spec *parsed, kr_shape *shape, const char **reason, kr_error *err)
{
    if (!device)
        return kr_fail(err, KR_ERR_ARGUMENT, "device is NULL");
    kr_column codes;
    kr_status status = check_key_column(device, keys, &codes, err);
    if (status == KR_OK)
        status = kr_pointer_check(device, row_ids, "row_ids", NULL, err);
    if (status == KR_OK)
        status = kr_choose(device, spec, parsed, reason, err);
    return status == KR_OK ? kr_index_shape_make(device, parsed, &codes, row_ids, shape, err) : status;
}

/* Of the dictionary, too, where keys are texts. */
static kr_status find_need(const kr_shape *shape, const kr_column *keys, kr_need *need, kr_error *err)
{
    const kr_status status = kr_choose_shape(shape, need, err);
    if (status == KR_OK && kr_strings_are(keys->type))
        *need = kr_texts_index_need(keys, *need);
    return status;
}

/* The failed allocation is one of several: adds the bytes that all of them need. */
static void add_need(const kr_shape *shape, const kr_column *keys, kr_error *err)
{
    kr_need need;
    const size_t used = strlen(err->text);
    if (find_need(shape, keys, &need, NULL) == KR_OK)
        snprintf(err->text + used, sizeof err->text - used, "; the whole build needs up to %llu bytes",
                 (unsigned long long)need.peak_nbytes);
}

kr_status kr_index_create(kr_device *device, const char *spec, const kr_column *keys, const uint32_t *row_ids,
                          kr_stream *stream, kr_index **index, kr_error *err)
{
    kr_spec parsed;
    kr_shape shape;
    if (!index)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_index_create: index is NULL");
    if ((uintptr_t)row_ids % sizeof *row_ids)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_index_create: row_ids must be aligned to 4 bytes");
    kr_status status = resolve(device, spec, keys, row_ids, &parsed, &shape, NULL, err);
    if (status == KR_OK)
        status = kr_strings_are(keys->type) ? kr_strings_check(device, keys, "keys", NULL, err)
                                            : kr_column_check(device, keys, "keys", NULL, err);
    if (status == KR_OK)
        status = kr_stream_check(device, stream, "kr_index_create", err);
    if (status == KR_OK)
        status = kr_strings_are(keys->type)
                     ? kr_texts_make_index(device, &parsed, keys, row_ids, stream, index, err)
                     : kr_index_make_best(device, spec, 0, &parsed, keys, row_ids, stream, index, err);
    if (status == KR_ERR_DEVICE_MEMORY && err)
        add_need(&shape, keys, err);
    return status;
}

/* A column for rows of the index; `what` names it in errors. */
static kr_status check_keys(const kr_index *index, const kr_column *keys, const char *what, kr_error *err)
{
    return kr_call_check_keys(index, keys, what, NULL, err);
}

static kr_status check_row_ids(const kr_index *index, const uint32_t *row_ids, const char *what,
                               kr_error *err)
{
    if ((uintptr_t)row_ids % sizeof *row_ids)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s must be aligned to 4 bytes", what);
    return kr_pointer_check(index->device, row_ids, what, NULL, err);
}

static kr_status check_change(const kr_index *index, const uint32_t *row_ids, const kr_column *keys,
                              kr_stream *stream, kr_error *err)
{
    kr_status status =
        kr_call_check_single(index, "kr_index_update_columns, which deletes rows and inserts others", err);
    if (status == KR_OK)
        status = check_keys(index, keys, "keys", err);
    if (status == KR_OK)
        status = check_row_ids(index, row_ids, "kr_index_set_keys: row_ids", err);
    if (status == KR_OK && keys->count && !row_ids)
        status = kr_fail(err, KR_ERR_ARGUMENT, "kr_index_set_keys: row_ids is NULL; give one row id per key");
    if (status == KR_OK)
        status = kr_stream_check(index->device, stream, "kr_index_set_keys", err);
    if (status == KR_OK)
        status = kr_kind_check(index->spec.kind, KR_CAN_SET_KEYS, err);
    if (status != KR_OK)
        return status;
    if (keys->count > index->info.rows)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "%llu keys for an index of %llu rows: give each row id at most once",
                       (unsigned long long)keys->count, (unsigned long long)index->info.rows);
    return KR_OK;
}

kr_status kr_index_set_keys(kr_index *index, const uint32_t *row_ids, const kr_column *keys,
                            kr_stream *stream, kr_error *err)
{
    if (!index)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_index_set_keys: index is NULL");
    const kr_status status = check_change(index, row_ids, keys, stream, err);
    if (status != KR_OK || !keys->count)
        return status;
    return index->texts ? kr_texts_set_index_keys(index, row_ids, keys, stream, err)
                        : kr_index_set_keys_apply(index, row_ids, keys, stream, err);
}

kr_status kr_call_check_update(const kr_index *index, const kr_update *wanted, kr_stream *stream,
                               const char *call, kr_error *err)
{
    const unsigned long long rows = index->info.rows, next = index->info.next_row,
                             more = wanted->insert_keys.count;
    kr_status status = check_row_ids(index, wanted->insert_rows, "insert_rows", err);
    if (status == KR_OK)
        status = kr_stream_check(index->device, stream, call, err);
    if (status == KR_OK)
        status = kr_kind_check(index->spec.kind, KR_CAN_UPDATE, err);
    if (status != KR_OK)
        return status;
    /* Only the kind finds out how many rows a batch deletes. */
    if (more >= KR_NO_ROW || (!wanted->delete_keys.count && rows + more >= KR_NO_ROW))
        return kr_fail(err, KR_ERR_LIMIT,
                       "%llu rows and %llu more: an index holds at most 4294967294; first delete some", rows,
                       more);
    if (!wanted->insert_rows && more && next + more > KR_NO_ROW)
        return kr_fail(err, KR_ERR_LIMIT,
                       "%llu rows from row id %llu on: the highest row id is 4294967294; give insert_rows",
                       more, next);
    return KR_OK;
}

/* What a call that updates was given. */
typedef struct update_given {
    const char *call, *of_columns; /* its name, and that of the call for several columns */
    const kr_column *insert_keys;
    const uint32_t *insert_rows;
    const kr_column *delete_keys;
} update_given;

static kr_status read_update(const kr_index *index, const update_given *g, kr_stream *stream,
                             kr_update *wanted, kr_error *err)
{
    if (!index)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: index is NULL", g->call);
    if (g->insert_rows && !g->insert_keys)
        return kr_fail(err, KR_ERR_ARGUMENT, "%s: insert_rows without insert_keys; give a key per row id",
                       g->call);
    const kr_column none = {.type = index->info.type, .dictionary = index->dictionary};
    *wanted = (kr_update){.delete_keys = g->delete_keys ? *g->delete_keys : none,
                          .insert_keys = g->insert_keys ? *g->insert_keys : none,
                          .insert_rows = g->insert_rows};
    kr_status status = kr_call_check_single(index, g->of_columns, err);
    if (status == KR_OK)
        status = check_keys(index, &wanted->insert_keys, "insert_keys", err);
    if (status == KR_OK)
        status = check_keys(index, &wanted->delete_keys, "delete_keys", err);
    return status == KR_OK ? kr_call_check_update(index, wanted, stream, g->call, err) : status;
}

static kr_status apply_update(kr_index *index, const kr_update *wanted, kr_stream *stream, kr_error *err)
{
    return index->texts ? kr_texts_update_index(index, wanted, stream, err)
                        : kr_index_update_apply(index, wanted, stream, err);
}

kr_status kr_index_update(kr_index *index, const kr_column *insert_keys, const uint32_t *insert_rows,
                          const kr_column *delete_keys, kr_stream *stream, kr_error *err)
{
    const update_given g = {"kr_index_update", "kr_index_update_columns", insert_keys, insert_rows,
                            delete_keys};
    kr_update wanted;
    const kr_status status = read_update(index, &g, stream, &wanted, err);
    return status == KR_OK ? apply_update(index, &wanted, stream, err) : status;
}

kr_status kr_index_next_version(const kr_index *index, const kr_column *insert_keys,
                                const uint32_t *insert_rows, const kr_column *delete_keys, kr_stream *stream,
                                kr_index **next, kr_error *err)
{
    const update_given g = {"kr_index_next_version", "kr_index_next_version_columns", insert_keys,
                            insert_rows, delete_keys};
    kr_update wanted;
    kr_index_version version;
    const kr_status status = next ? read_update(index, &g, stream, &wanted, err)
                                  : kr_fail(err, KR_ERR_ARGUMENT, "kr_index_next_version: next is NULL");
    if (status != KR_OK)
        return status;
    kr_index_version_begin(index, stream, &version, err);
    kr_work *w = &version.work;
    KR_STEP(w, apply_update(version.made, &wanted, w->stream, err));
    return kr_index_version_end(&version, next);
}

kr_status kr_index_query(const kr_index *index, kr_index_info *info, kr_error *err)
{
    if (!index || !info)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_index_query: index or info is NULL");
    const kr_status status = kr_struct_check(&kr_struct_index_info, info, err);
    if (status != KR_OK)
        return status;
    kr_index_info made = index->info;
    made.type = kr_index_type(index);
    kr_struct_write(&kr_struct_index_info, &made, info);
    return KR_OK;
}

/* ---- Before a build -------------------------------------------------------------------------- */

kr_status kr_index_validate(kr_index *index, kr_error *err)
{
    if (!index)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_index_validate: index is NULL");
    return kr_index_check(index, err);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What "best" may stand for once it has seen the keys may need more. Types that it refuses are none of its.
 */
static void cover_others(kr_device *device, const char *spec, const kr_column *keys, kr_need *need)
{
    kr_spec other;
    for (uint32_t i = 0; !kr_strings_are(keys->type) && kr_choose_other(device, spec, i, &other); ++i) {
        kr_shape shape;
        kr_need its;
        if (kr_index_shape_make(device, &other, keys, NULL, &shape, NULL) != KR_OK ||
            kr_choose_shape(&shape, &its, NULL) != KR_OK)
            continue;
        need->footprint_nbytes = larger(need->footprint_nbytes, its.footprint_nbytes);
        need->peak_nbytes = larger(need->peak_nbytes, its.peak_nbytes);
    }
}

kr_status kr_index_estimate(kr_device *device, const char *spec, const kr_column *keys, kr_estimate *estimate,
                            kr_error *err)
{
    kr_spec parsed;
    kr_shape shape;
    kr_need need;
    if (!estimate)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_index_estimate: estimate is NULL");
    kr_status status = kr_struct_check(&kr_struct_estimate, estimate, err);
    if (status == KR_OK)
        status = resolve(device, spec, keys, NULL, &parsed, &shape, NULL, err);
    if (status == KR_OK)
        status = find_need(&shape, keys, &need, err);
    if (status != KR_OK)
        return status;
    cover_others(device, spec, keys, &need);
    const kr_estimate made = {sizeof made, need.footprint_nbytes, need.peak_nbytes};
    kr_struct_write(&kr_struct_estimate, &made, estimate);
    return KR_OK;
}

/* For "best" and keys that can be read: what they are like, and the kind that suits them. Blocks. */
static kr_status look(kr_device *device, const char *spec, const kr_column *keys, kr_spec *parsed,
                      const char **reason, char seen[KR_LOOK_TEXT_NBYTES], kr_error *err)
{
    seen[0] = '\0';
    if (!kr_choose_is_open(spec) || !keys->data || kr_strings_are(keys->type))
        return KR_OK;
    kr_work w = kr_work_on(device, NULL, err);
    KR_STEP(&w, kr_column_check(device, keys, "keys", NULL, err));
    const kr_column here = kr_column_bring(&w, keys, "a copy of the keys");
    const kr_look found = kr_work_goes_on(&w) ? kr_look_at(&w, &here) : (kr_look){0};
    kr_work_give_since(&w, 0);
    const kr_status status = kr_work_end(&w);
    if (status != KR_OK)
        return status;
    kr_choose_seen(device, spec, &found, 0, parsed, reason);
    kr_look_describe(&found, seen);
    return KR_OK;
}

/* What the choice of `best` does not look at: how large a batch is. Said of the kind that was chosen without
 * a look at the keys. */
static const char *doubts(const kr_probe_case *of, const kr_probe_plan *plan, const char *spec)
{
    kr_spec plain;
    const int is_plain = spec && strcmp(spec, "best") == 0 &&
                         kr_choose(of->device, spec, &plain, NULL, NULL) == KR_OK &&
                         plain.kind == of->spec->kind;
    return is_plain && !of->device->ops->is_host && plan->way != KR_SEARCHED_PARTITIONED
               ? "; this batch is not partitioned, so eytzinger may be faster"
               : "";
}

/* What changes of an index over texts do. */
static const char *renews(const kr_spec *spec, const kr_column *keys)
{
    const uint32_t changes = KR_CAN_UPDATE | KR_CAN_SET_KEYS;
    return kr_strings_are(keys->type) && kr_texts_are_ordered(spec) && spec->kind->capabilities & changes
               ? "; changes with new texts make codes and index anew"
               : "";
}

kr_status kr_index_explain(kr_device *device, kr_operation operation, const char *spec, const kr_column *keys,
                           uint64_t n_probes, kr_explanation *explanation, kr_error *err)
{
    kr_explanation made = {0};
    kr_spec parsed;
    kr_shape shape;
    const char *reason = NULL;
    char divided[96] = "", seen[KR_LOOK_TEXT_NBYTES];
    if (!explanation)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_index_explain: explanation is NULL");
    if ((unsigned)operation < KR_OP_POINT || (unsigned)operation > KR_OP_JOIN)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_index_explain: %d is not an operation; use one of kr_operation", (int)operation);
    kr_need need;
    kr_status status = kr_struct_check(&kr_struct_explanation, explanation, err);
    if (status == KR_OK)
        status = resolve(device, spec, keys, NULL, &parsed, &shape, &reason, err);
    if (status == KR_OK)
        status = look(device, spec, keys, &parsed, &reason, seen, err); /* shape points to parsed */
    if (status == KR_OK)
        status = find_need(&shape, keys, &need, err);
    if (status == KR_OK)
        status = kr_spec_format(&parsed, made.spec, sizeof made.spec, err);
    if (status != KR_OK)
        return status;
    const kr_family_ops *ops = kr_index_ops(device, &parsed, shape.type);
    const uint32_t bits = kr_type_significant_bits(shape.type);
    const kr_probe_case of = {device, &parsed, keys->count, need.footprint_nbytes,
                              bits,   bits,    n_probes,    ops->kept != NULL};
    const kr_probe_plan plan = kr_order_plan_probes(&of);
    made.footprint_nbytes = need.footprint_nbytes;
    made.peak_nbytes = need.peak_nbytes;
    snprintf(made.device, sizeof made.device, "%s", device->name);
    kr_family_tracer(ops, device, made.tracer);
    if (ops->kept)
        ops->kept->explain(&shape, divided);
    snprintf(made.reason, sizeof made.reason, "%s%s%s%s%s", reason, seen, doubts(&of, &plan, spec), divided,
             renews(&parsed, keys));
    snprintf(made.probe_order, sizeof made.probe_order, "%s: %s", kr_order_searched_name(plan.way),
             plan.reason);
    made.memory_accesses_per_probe = ops->touches(&shape);
    made.rays_per_probe = ops->rays ? ops->rays(&shape) : 0;
    kr_struct_write(&kr_struct_explanation, &made, explanation);
    return KR_OK;
}
