#include "subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the index should answer now. */
void kr_subject_refresh(kr_subject *s)
{
    const kr_type type = s->model.scene.type;
    const int high = s->model.scene.row_ids == KR_ROW_IDS_HIGH;
    kr_test_column keys = kr_test_column_make(type, s->model.n, KR_PATTERN_DENSE, KR_NULLS_NONE, 1);
    uint32_t *ids = kr_test_calloc(s->model.n, sizeof *ids);
    for (uint64_t i = 0; i < s->model.n; ++i) {
        kr_value_store_bits(type, keys.data, i, kr_value_of_code(type, s->model.rows[i].code));
        ids[i] = s->model.rows[i].id;
    }
    kr_case_data_free(&s->fixture.data);
    /* Columns of values cover all row ids that were given, three for each of the case's keys, except high
     * ones. */
    s->fixture.test = (kr_case){.name = "updates",
                                .pattern = s->model.scene.pattern,
                                .keys = high ? 0 : s->next_row / 3 + 1,
                                .probes = s->probes ? s->probes : 40,
                                .row_ids = high ? KR_ROW_IDS_HIGH : KR_ROW_IDS_SPARSE};
    kr_case_data_of(s->suite, &s->fixture.test, (uint32_t)kr_rng_below(&s->model.rng, 1000), &keys, ids,
                    &s->fixture.data);
}

/* Some updates are made as a version, which takes the place of the index; that is as it was until then. */
static kr_status make_version(kr_subject *s, const kr_column *inserts, const uint32_t *ids,
                              const kr_column *deletes, kr_stream *stream, kr_error *err)
{
    kr_index_info before = {.struct_size = sizeof before}, after = before;
    kr_index *next = NULL;
    kr_error broken = {0};
    kr_index_query(s->index, &before, NULL);
    const kr_status status = kr_index_next_version(s->index, inserts, ids, deletes, stream, &next, err);
    kr_index_query(s->index, &after, NULL);
    kr_test_expect(s->suite, before.rows == after.rows && before.next_row == after.next_row,
                   "a version leaves the older one as it is");
    if (status != KR_OK)
        return status;
    kr_test_ok(s->suite, kr_index_validate(s->index, &broken), &broken, "an older version is whole");
    kr_index_destroy(s->index);
    s->index = next;
    return KR_OK;
}

/* Columns lie in host or device memory, by chance; empty ones are NULL, by chance. */
static kr_status update(kr_subject *s, const kr_update_batch *b, kr_stream *stream, kr_error *err)
{
    const kr_column ids = {.type = KR_U32, .count = b->ids ? b->inserts.view.count : 0, .data = b->ids};
    const kr_column *columns[] = {&b->inserts.view, &b->deletes.view, &ids};
    kr_placed placed[3] = {0};
    kr_status status = KR_OK;
    for (uint32_t i = 0; i < 3 && !status; ++i)
        status =
            kr_placed_make(s->on->device, kr_rng_below(&s->model.rng, 2) ? KR_PLACE_HOST : KR_PLACE_DEVICE,
                           columns[i], 1, &placed[i], err);
    if (!status)
        status = kr_device_sync(s->on->device, NULL, err);
    if (status) {
        fprintf(stderr, "the test itself ran out of memory: %s\n", err->text);
        exit(1);
    }
    const uint64_t in_use = kr_in_use(s->on->device);
    const int omits = (int)kr_rng_below(&s->model.rng, 2);
    const kr_column *inserts = omits && !ids.count && !columns[0]->count ? NULL : &placed[0].view;
    const kr_column *deletes = omits && !columns[1]->count ? NULL : &placed[1].view;
    const uint32_t *rows = ids.count ? placed[2].view.data : NULL;
    status = kr_rng_split(s->model.rng.state, 1) % 3
                 ? kr_index_update(s->index, inserts, rows, deletes, stream, err)
                 : make_version(s, inserts, rows, deletes, stream, err);
    if (status && kr_in_use(s->on->device) != in_use)
        kr_test_fail(s->suite, "a refused update keeps %lld bytes",
                     (long long)(kr_in_use(s->on->device) - in_use));
    for (uint32_t i = 0; i < 3; ++i)
        kr_placed_free(&placed[i]);
    return status;
}

/* Adds the rows of a column to the model; ids NULL: those from next_row on. */
void kr_subject_insert(kr_subject *s, const kr_column *keys, const uint32_t *ids)
{
    kr_model_insert(&s->model, keys, ids, s->next_row);
    if (!ids)
        s->next_row += keys->count;
    for (uint64_t i = 0; ids && i < keys->count; ++i)
        s->next_row = ids[i] >= s->next_row ? ids[i] + UINT64_C(1) : s->next_row;
}

/* The rows after the batch. */
void kr_subject_apply(kr_subject *s, const kr_update_batch *b)
{
    kr_model_delete(&s->model, &b->deletes.view);
    kr_subject_insert(s, &b->inserts.view, b->ids);
    kr_subject_refresh(s);
}

/* ---- Checks --------------------------------------------------------------------------------- */

static uint64_t counter(const kr_subject *s, const char *name)
{
    for (uint32_t i = 0; kr_index_counter_name(s->index, i); ++i)
        if (strcmp(kr_index_counter_name(s->index, i), name) == 0)
            return kr_index_counter_value(s->index, i);
    return 0;
}

/* The nodes of kind cgrx. */
static void check_nodes(kr_subject *s)
{
    const uint64_t lists = counter(s, "lists"), nodes = counter(s, "nodes"), room = counter(s, "node room");
    const uint64_t entries = counter(s, "node entries"), longest = counter(s, "longest list");
    if (lists == 0) {
        kr_test_expect(s->suite, nodes == 0 && longest == 0, "without lists there are no nodes");
        return;
    }
    kr_test_expect(s->suite, nodes >= lists && room >= nodes,
                   "a list has at least one node, and there is memory for all");
    kr_test_expect(s->suite, longest >= 1 && longest <= nodes - lists + 1,
                   "the longest list has some of the nodes");
    kr_test_expect(s->suite, nodes * entries >= s->model.n, "all entries fit the nodes");
    char how[32];
    const int splits = strcmp(kr_spec_option(s->model.spec, "apply", how), "split") == 0;
    kr_test_expect(s->suite, s->model.n >= (nodes - lists) * (splits ? 1 : entries),
                   splits ? "no node behind the first of a list is empty"
                          : "all nodes of a list but the last are full");
}

static void check_stats(kr_subject *s)
{
    kr_index_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    const uint64_t sum = kr_component_sum(s->index);
    if (!kr_test_ok(s->suite, kr_index_query(s->index, &info, &err), &err, "kr_index_query"))
        return;
    if (info.rows != s->model.n)
        kr_test_fail(s->suite, "the index has %llu rows, want %llu", (unsigned long long)info.rows,
                     (unsigned long long)s->model.n);
    if (info.next_row != s->next_row)
        kr_test_fail(s->suite, "the next row id is %llu, want %llu", (unsigned long long)info.next_row,
                     (unsigned long long)s->next_row);
    kr_test_expect(s->suite, sum == info.footprint_nbytes,
                   "the components sum to the footprint after an update");
    const uint64_t held = kr_in_use(s->on->device) - s->before;
    const uint64_t owned = info.footprint_nbytes - kr_component_on_host(s->index);
    kr_test_expect(s->suite, info.peak_nbytes >= owned, "the peak includes the footprint");
    if (strncmp(s->model.spec, "cgrx", 4) == 0)
        check_nodes(s);
    if (s->is_mapped && held < owned)
        return;
    s->is_mapped = 0;
    if (held != owned)
        kr_test_fail(s->suite, "after an update the device holds %llu bytes more, of the footprint %llu",
                     (unsigned long long)held, (unsigned long long)owned);
}

/* Rays find every key where updates put it. With wider types a tracer may confuse rows that lie far away. */
static void check_repairs(kr_subject *s)
{
    const kr_column *keys = &s->fixture.data.keys.view;
    uint64_t *counts = kr_test_calloc(keys->count, sizeof *counts);
    kr_report *report = NULL;
    kr_error err = {0};
    if (!kr_test_ok(s->suite, kr_report_create(&report, &err), &err, "kr_report_create"))
        return;
    const kr_sink sink = {.struct_size = sizeof sink,
                          .result = KR_RESULT_COUNT,
                          .out = counts,
                          .report = report,
                          .count_work = 1};
    if (kr_test_ok(s->suite, kr_index_lookup(s->index, keys, &sink, NULL, &err), &err, "kr_index_lookup"))
        kr_test_expect(s->suite, kr_test_work_of(report).repaired == 0, "no key is repaired after an update");
    kr_report_destroy(report);
    free(counts);
}

int kr_subject_check(kr_subject *s, kr_status allowed)
{
    kr_error err = {0};
    uint32_t refusals = 0;
    const kr_status status = kr_index_validate(s->index, &err);
    if (status != KR_OK && status != allowed)
        return kr_test_ok(s->suite, status, &err, "kr_index_validate");
    if (!kr_fixture_check(&s->fixture, s->model.spec, s->index, allowed, &refusals))
        return 0;
    check_stats(s);
    if (allowed == KR_OK && kr_type_nbytes(s->model.scene.type) <= 2)
        check_repairs(s);
    return !s->suite->has_failed;
}

int kr_subject_begin(kr_subject *s, const kr_suite_device *on, kr_error *err)
{
    const kr_scene_of_rows *of = &s->model.scene;
    const uint64_t seed = kr_rng_next(&s->model.rng);
    kr_test_column keys = kr_test_column_make(of->type, of->keys, of->pattern, of->nulls, seed);
    uint32_t *ids = kr_test_row_ids(of->row_ids, of->keys, seed);
    s->on = on;
    s->before = kr_in_use(on->device);
    s->fixture = (kr_fixture){.suite = s->suite};
    const kr_status status =
        kr_index_create(on->device, s->model.spec, &keys.view, ids, NULL, &s->index, err);
    s->next_row = 0;
    kr_subject_insert(s, &keys.view, ids);
    kr_subject_refresh(s);
    free(ids);
    kr_test_column_free(&keys);
    return status == KR_OK;
}

void kr_subject_end(kr_subject *s)
{
    kr_index_destroy(s->index);
    kr_fixture_free(&s->fixture);
    free(s->model.rows);
    s->index = NULL;
    s->model.rows = NULL;
    s->model.n = 0;
}

int kr_subject_try(kr_subject *s, const kr_update_batch *b, const char *name, kr_stream *stream)
{
    kr_error err = {0};
    const int too_high = !b->ids && b->inserts.view.count > KR_NO_ROW - s->next_row;
    const kr_status status = update(s, b, stream, &err);
    int good = too_high ? kr_test_refused(s->suite, KR_ERR_LIMIT, status, &err, name)
                        : kr_test_ok(s->suite, status, &err, name);
    if (good && !too_high)
        kr_subject_apply(s, b);
    good = good && kr_subject_check(s, KR_OK);
    if (!good)
        printf("  after a batch that left %llu rows: %s\n", (unsigned long long)s->model.n, name);
    return good;
}
