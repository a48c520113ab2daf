/* Leaves are changed in any order: a GPU starts groups as it likes, CPU threads take pieces of 64. */
#include "tree.h"

static const kr_device_ops *real_ops;
static int reversed;

/* The pieces of a program, the last one first. */
static kr_status run_backward(kr_device *of, const kr_program *program, const void *params, uint64_t n,
                              void *stream, kr_error *err)
{
    if (!reversed || !strstr(program->name, "btree_apply"))
        return real_ops->run(of, program, params, n, stream, err);
    for (uint64_t first = (n + 63) / 64 * 64; first > 0; first -= 64)
        program->cpu(params, first - 64, first < n ? first : n, n);
    return KR_OK;
}

static void replaced_keys_over_two_leaves(void **state)
{
    static entries model, deletes, inserts;
    enum { LEAVES = 1000 };
    (void)state;
    for (reversed = 0; reversed < 2; ++reversed)
        for (uint32_t wide = 0; wide < 2; ++wide) {
            model.n = deletes.n = inserts.n = 0;
            for (uint32_t p = 0; p < 4 * LEAVES; ++p) {
                const uint64_t key = p % 4 == 3 || p % 4 == 0 ? 2 * ((p + 1) / 4) : 2 * (p / 4) + 1;
                model.at[model.n++] = (entry){key, 10 * p};
            }
            kr_index *index = make("btree:node=8,fill=0.5", wide, &model);
            const void *leaves = tree_of(index)->keys.data;
            for (uint32_t i = 1; i < LEAVES; ++i)
                if (i % 2 == 0 || i % 64 == 63 || i % 64 == 1) {
                    deletes.at[deletes.n++] = (entry){2 * i, 0};
                    inserts.at[inserts.n++] = (entry){2 * i, 40 * i - 5};
                }
            kr_error err = {0};
            if (change(index, wide, &deletes, &inserts, &err) != KR_OK)
                fail_msg("%s", err.text);
            model_update(&model, &deletes, &inserts);
            assert_ptr_equal(leaves, tree_of(index)->keys.data);
            check(index, wide, &model);
            kr_index_destroy(index);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(replaced_keys_over_two_leaves)};
    open_device();
    static kr_device_ops ops;
    real_ops = device->ops;
    ops = *real_ops;
    ops.run = run_backward;
    device->ops = &ops;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    device->ops = real_ops;
    kr_device_close(device);
    return failed;
}
