/* Updates of tables: after every batch the table is valid and holds the rows that a plain list would; memory
 * and the ways to keys stay as those of a fresh build; a batch that fails changes nothing. */
#include "cancelling_device.h"
#include "tables.h"

static const char *const specs[] = {"hash",
                                    "hash:load=0.95",
                                    "hash:load=0.5,probing=double",
                                    "hash:build=insert",
                                    "hash:filter=off",
                                    "hash:load=0.95,probing=double,filter=off",
                                    "chain",
                                    "chain:occupancy=0.5",
                                    "chain:occupancy=2"};
enum { SPECS = sizeof specs / sizeof *specs };

static uint64_t random_key(uint32_t wide, uint64_t range)
{
    return key_of(wide, next_random() % range);
}

/* ---- Sequences ------------------------------------------------------------------------------- */

/* Deletes, inserts or both; keys in common, and some several times. */
static void draft(uint32_t wide, uint32_t size, uint64_t range)
{
    const uint32_t shape = (uint32_t)next_random() % 4;
    for (uint32_t i = 0; i < size; ++i) {
        const uint64_t key =
            i % 3 && model.n ? model.at[next_random() % model.n].key : random_key(wide, range);
        if (shape != 0)
            add(&inserts, i % 5 == 4 && inserts.n ? inserts.at[next_random() % inserts.n].key : key);
        if (shape == 0 || (shape == 1 && i % 2 == 0)) /* others, or one of both */
            add(&deletes, model.n ? model.at[next_random() % model.n].key : key);
        if ((shape == 2 && i % 4 == 0) || (shape == 0 && i % 9 == 0))
            add(&deletes, key);
    }
}

static void sequences_follow_the_model(void **state)
{
    static const uint64_t ranges[] = {200, 5000, 1u << 30};
    (void)state;
    for (uint32_t s = 0; s < SPECS; ++s)
        for (uint32_t wide = 0; wide < 2; ++wide)
            for (uint32_t r = 0; r < 3; ++r) {
                model.n = 0;
                for (uint32_t i = 0; i < 3000; ++i)
                    add(&model, random_key(wide, ranges[r]));
                kr_index *index = make(specs[s], wide);
                check(index, wide);
                for (uint32_t round = 0; round < 40; ++round) {
                    draft(wide, 1 + (uint32_t)next_random() % (round % 6 ? 60 : 1500), ranges[r]);
                    apply(index, wide);
                }
                kr_index_destroy(index);
            }
}

/* ---- Size ------------------------------------------------------------------------------------ */

static void grows_from_nothing_and_shrinks(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < SPECS; ++s)
        for (uint32_t wide = 0; wide < 2; ++wide) {
            model.n = 0;
            kr_index *index = make(specs[s], wide);
            check(index, wide);
            for (uint32_t n = 0, next = 1; n < 100000; next += next / 3 + 1) {
                for (; n < next && n < 100000; ++n)
                    add(&inserts, key_of(wide, n));
                apply(index, wide);
            }
            kr_index *fresh = make(specs[s], wide);
            const uint64_t grown = footprint(index), built = footprint(fresh);
            assert_true(grown <= built + built / 4);
            kr_index_destroy(fresh);
            for (uint32_t i = 0; i < 100000; ++i)
                if (i % 10)
                    add(&deletes, key_of(wide, i));
            apply(index, wide);
            assert_true(footprint(index) <= grown / 2);
            for (uint32_t i = 0; i < 100000; i += 10)
                add(&deletes, key_of(wide, i));
            apply(index, wide);
            add(&inserts, 5);
            apply(index, wide);
            kr_index_destroy(index);
        }
}

/* Rows aside that nothing uses any more are not kept for ever. */
static void rows_aside_are_given_back(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < SPECS; ++s)
        for (uint32_t wide = 0; wide < 2; ++wide) {
            fill_model(wide, 5000);
            kr_index *index = make(specs[s], wide);
            for (uint32_t wave = 0; wave < 40; ++wave) { /* the same 400 keys get rows and lose them */
                for (uint32_t i = 0; i < 400; ++i)
                    add(wave % 4 == 3 ? &deletes : &inserts, key_of(wide, i));
                apply(index, wide);
            }
            kr_index *fresh = make(specs[s], wide);
            assert_true(footprint(index) <= footprint(fresh) * 5 / 4);
            kr_index_destroy(fresh);
            kr_index_destroy(index);
        }
}

/* Whether the last update made the table anew. */
static int was_made_anew(const kr_index *index)
{
    for (uint32_t i = 0; i < kr_index_phase_count(index); ++i)
        if (strcmp(kr_index_phase_name(index, i), "buckets") == 0)
            return 1;
    return 0;
}

/* As many keys are inserted as deleted: memory and ways stay near those of a fresh build of so many keys, and
 * most waves are applied in place where there is room for both. */
static void waves_of_replaced_keys(void **state)
{
    enum { KEYS = 50000, WAVES = 64, REPLACED = 2000 };
    (void)state;
    for (uint32_t s = 0; s < SPECS; ++s)
        for (uint32_t wide = 0; wide < 2; ++wide) {
            kr_error err = {0};
            uint32_t anew = 0;
            fill_model(wide, KEYS);
            kr_index *index = make(specs[s], wide);
            const uint64_t nbytes = footprint(index), reads = counter(index, "nodes read to find all keys");
            for (uint32_t wave = 0; wave < WAVES; ++wave) {
                for (uint32_t i = wave * REPLACED; i < (wave + 1) * REPLACED; ++i) {
                    add(&deletes, key_of(wide, i));
                    add(&inserts, key_of(wide, KEYS + i));
                }
                assert_int_equal(change(index, wide, &err), KR_OK);
                model_update();
                if (kr_index_validate(index, &err) != KR_OK)
                    fail_msg("%s", err.text);
                assert_true(footprint(index) * 10 <= nbytes * 11);
                assert_true(counter(index, "nodes read to find all keys") * 100 <= reads * 125);
                anew += was_made_anew(index) != 0;
            }
            check(index, wide);
            if (!strstr(specs[s], "load=0.95")) /* which has no room for a wave besides its keys */
                assert_true(anew <= WAVES / 2);
            kr_index_destroy(index);
        }
}

/* ---- Large batches, as on a GPU ---------------------------------------------------------------- */

/* What GPUs make anew without a plan, programs of the CPU make in the same way. */
static const kr_device_ops *pretend_gpu(kr_device_ops *ops)
{
    const kr_device_ops *cpu = device->ops;
    *ops = *cpu;
    ops->is_host = 0;
    device->ops = ops;
    return cpu;
}

/* Two thirds as many rows as the table has: old keys, new ones, and some several times, with row ids below
 * and above the old. `gone` old keys are deleted, of which a seventh come back. */
static void draft_large(uint32_t wide, uint32_t gone)
{
    enum { INSERTS = 66000 };
    for (uint32_t i = 0; i < INSERTS; ++i)
        add(&inserts, key_of(wide, i % 7 ? 100000 + i : i % 11 ? i : 42));
    for (uint32_t i = 0; i < gone; ++i)
        add(&deletes, key_of(wide, 2 * i));
}

static void large_batches_make_a_table_anew(void **state)
{
    static const uint32_t gone[] = {0, 3000, 99000};
    (void)state;
    for (uint32_t s = 0; s < SPECS; ++s)
        for (uint32_t d = 0; d < 3; ++d) {
            kr_device_ops ops;
            const uint32_t wide = (s + d) % 2;
            fill_model(wide, 100000);
            kr_index *index = make(specs[s], wide);
            const kr_device_ops *cpu = pretend_gpu(&ops);
            draft_large(wide, gone[d]);
            apply(index, wide);
            assert_true(was_made_anew(index));
            device->ops = cpu;
            kr_index_destroy(index);
        }
}

/* Row ids that follow the old ones need no second sort. */
static void large_batches_number_their_rows(void **state)
{
    static columns come;
    kr_device_ops ops;
    kr_error err = {0};
    (void)state;
    for (uint32_t wide = 0; wide < 2; ++wide) {
        static uint32_t rows[100000];
        model.n = 0;
        for (uint32_t i = 0; i < 100000; ++i)
            add_row(&model, key_of(wide, i), rows[i] = i);
        kr_index *index = make("hash", wide);
        const kr_device_ops *cpu = pretend_gpu(&ops);
        draft_large(wide, 0);
        for (uint32_t i = 0; i < inserts.n; ++i)
            inserts.at[i].row = 100000 + i;
        columns_of(&inserts, wide, &come);
        assert_int_equal(kr_index_update(index, &come.view, NULL, NULL, NULL, &err), KR_OK);
        model_update();
        check(index, wide);
        device->ops = cpu;
        kr_index_destroy(index);
    }
}

/* ---- Failures -------------------------------------------------------------------------------- */

/* Every allocation or every program of a batch fails in turn; then the batch goes through. */
static void fail_batch(kr_index *index, uint32_t wide, uint64_t *countdown, kr_status wanted, uint32_t least)
{
    uint32_t failed = 0;
    for (kr_status status = wanted; status != KR_OK;) {
        kr_error err = {0};
        const uint64_t in_use = atomic_load(&device->in_use_nbytes), bytes = footprint(index);
        *countdown = ++failed;
        status = change(index, wide, &err);
        *countdown = 0;
        if (status != KR_OK) {
            assert_int_equal(status, wanted);
            assert_true(atomic_load(&device->in_use_nbytes) == in_use && footprint(index) == bytes);
        } else {
            model_update();
        }
        check(index, wide);
    }
    assert_true(failed > least);
}

static void fail_batches(uint64_t *countdown, kr_status wanted, uint32_t least)
{
    for (uint32_t s = 0; s < SPECS; ++s)
        for (uint32_t wide = 0; wide < 2; ++wide) {
            fill_model(wide, 4000);
            kr_index *index = make(specs[s], wide);
            add(&inserts, key_of(wide, 5000)); /* in place */
            fail_batch(index, wide, countdown, wanted, least);
            for (uint32_t i = 0; i < 100; ++i) { /* with rows aside, and keys that are replaced */
                add(&inserts, key_of(wide, i));
                add(&inserts, key_of(wide, 6000 + i / 2));
                add(&deletes, key_of(wide, 50 + i));
            }
            fail_batch(index, wide, countdown, wanted, least);
            for (uint32_t i = 0; i < 4000; ++i) /* made anew */
                add(&inserts, key_of(wide, 10000 + i));
            fail_batch(index, wide, countdown, wanted, least);
            for (uint32_t i = 0; i < 300; ++i) /* made anew by another seed */
                add(&inserts, key_behind(wide, wide ? i : 77 + i));
            fail_batch(index, wide, countdown, wanted, least);
            assert_true(counter(index, "seeds given up") >= 1);
            kr_index_destroy(index);
        }
}

/* A large batch of which no table with the first seed holds all keys. */
static void fail_large_batches(uint64_t *countdown, kr_status wanted)
{
    for (uint32_t wide = 0; wide < 2; ++wide) {
        kr_device_ops ops;
        fill_model(wide, 100000);
        kr_index *index = make(wide ? "chain" : "hash", wide);
        const kr_device_ops *before = pretend_gpu(&ops);
        draft_large(wide, 3000);
        for (uint32_t i = 0; i < 300; ++i)
            add(&inserts, key_behind(wide, wide ? i : 77 + i));
        fail_batch(index, wide, countdown, wanted, 4);
        assert_true(counter(index, "seeds given up") >= 1);
        device->ops = before;
        kr_index_destroy(index);
    }
}

static void failed_allocations_change_nothing(void **state)
{
    (void)state;
    fail_batches(&fail_at, KR_ERR_DEVICE_MEMORY, 4);
    fail_large_batches(&fail_at, KR_ERR_DEVICE_MEMORY);
}

static void cancelling_changes_nothing(void **state)
{
    kr_device_ops half;
    (void)state;
    cancel_programs(device, &half);
    fail_batches(&cancel_at, KR_ERR_CANCELLED, 2);
    fail_large_batches(&cancel_at, KR_ERR_CANCELLED);
    device->ops = real_ops;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_follow_the_model),
        cmocka_unit_test(grows_from_nothing_and_shrinks),
        cmocka_unit_test(rows_aside_are_given_back),
        cmocka_unit_test(waves_of_replaced_keys),
        cmocka_unit_test(large_batches_make_a_table_anew),
        cmocka_unit_test(large_batches_number_their_rows),
        cmocka_unit_test(failed_allocations_change_nothing),
        cmocka_unit_test(cancelling_changes_nothing),
    };
    open_device();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kr_device_close(device);
    return failed;
}
