/* Every family fills what the contract says that every family has. */
#include "index/kinds/family.h"
#include "table/family.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void check_ops(const kr_kind *kind, const kr_family_ops *ops)
{
    assert_non_null(ops);
    assert_true(ops->estimate && ops->build && ops->destroy && ops->locate && ops->rows);
    assert_true(ops->components && ops->touches);
    assert_true(ops->program || ops->runs_on);
    assert_int_equal(ops->rays != NULL, ops->tracer != NULL);
    assert_int_equal(ops->set_keys != NULL, (kind->capabilities & KR_CAN_SET_KEYS) != 0);
    assert_int_equal((ops->update != NULL) + (ops->next != NULL), (kind->capabilities & KR_CAN_UPDATE) != 0);
    /* Ranges need an order; a family that hashes has none. */
    assert_true(ops->ordered || !(kind->capabilities & KR_CAN_RANGE));
    assert_false(ops->ordered && ops->hash_seed);
    if (ops->ordered)
        assert_non_null(ops->ordered->key_range);
}

static void check_scan_ops(const kr_kind *kind, const kr_scan_ops *ops)
{
    assert_true(ops->estimate && ops->build && ops->destroy && ops->components && ops->select);
    assert_true(ops->program || ops->runs_on);
    assert_int_equal(kind->capabilities, KR_CAN_SCAN);
}

/* The operations that options name; a choice has at least two values. */
static void check_made_ops(const kr_kind *kind)
{
    for (uint32_t o = 0; o < kind->n_options && kind->scan->ops_of; ++o)
        for (int64_t value = 0; kind->options[o].form == KR_OPTION_CHOICE && value < 2; ++value) {
            kr_spec spec;
            assert_int_equal(kr_spec_parse(kind->name, &spec, NULL), KR_OK);
            spec.options[o] = value;
            check_scan_ops(kind, kind->scan->ops_of(&spec));
        }
}

static void families_are_whole(void **state)
{
    uint32_t n = 0;
    (void)state;
    for (const kr_kind *kind; (kind = kr_kind_at(n)) != NULL; ++n) {
        assert_true(kind->name && kind->summary && kind->source);
        assert_true((kind->family != NULL) != (kind->scan != NULL));
        if (kind->scan) {
            check_scan_ops(kind, kind->scan->ops);
            check_made_ops(kind);
            continue;
        }
        assert_true(kind->capabilities & KR_CAN_POINT);
        check_ops(kind, kind->family->u32);
        check_ops(kind, kind->family->u64);
    }
    assert_true(n >= (kr_kind_left_out_at(0) ? 1 : 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(families_are_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
