/* An inner join and an anti join of two columns. */
#include <keyray/keyray.h>
#include <stdio.h>
#include <string.h>

/* Rows of the orders say who ordered; rows of the customers say who there is. */
static const int64_t ordered_by[] = {7, 3, 7, 12, 3, 7};
static const int64_t customers[] = {3, 7, 9};
static const kr_column left = {.type = KR_I64, .count = 6, .data = ordered_by};
static const kr_column right = {.type = KR_I64, .count = 3, .data = customers};

static int failed(kr_status status, const kr_error *err)
{
    if (status != KR_OK)
        fprintf(stderr, "%s: %s\n", kr_status_name(status), err->text);
    return status != KR_OK;
}

/* Pairs of rows with equal values, sorted by the left row, then the right one. */
static int inner_join(kr_device *device)
{
    static const uint32_t right_order[5] = {0, 1, 2, 4, 5}, right_customer[5] = {1, 0, 1, 0, 1};
    const kr_join_options options = {.struct_size = sizeof options, .type = KR_JOIN_INNER};
    kr_join *join = NULL;
    kr_join_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    uint32_t order[5], customer[5];
    int wrong = failed(kr_join_create(device, "best", &left, &right, &options, &join, &err), &err) ||
                failed(kr_join_query(join, &info, &err), &err);
    /* The join holds its result, so its size is known before the caller needs room for it. */
    if (!wrong && info.pairs != 5)
        wrong = 1;
    if (!wrong)
        wrong = failed(kr_join_read(join, 0, info.pairs, order, customer, &err), &err);
    if (!wrong) {
        printf("on %s with %s, the %s side indexed\n", info.device, info.spec, info.indexed);
        for (uint32_t i = 0; i < info.pairs; ++i)
            printf("order %u is from customer %u\n", order[i], customer[i]);
        wrong = memcmp(order, right_order, sizeof order) || memcmp(customer, right_customer, sizeof customer);
    }
    kr_join_destroy(join);
    return wrong;
}

/* Left rows without a partner. */
static int anti_join(kr_device *device)
{
    const kr_join_options options = {.struct_size = sizeof options, .type = KR_JOIN_ANTI};
    kr_join *join = NULL;
    kr_join_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    uint32_t order = 0;
    int wrong = failed(kr_join_create(device, "best", &left, &right, &options, &join, &err), &err) ||
                failed(kr_join_query(join, &info, &err), &err);
    if (!wrong && info.pairs != 1)
        wrong = 1;
    if (!wrong)
        wrong = failed(kr_join_read(join, 0, 1, &order, NULL, &err), &err);
    if (!wrong) {
        printf("order %u is from nobody we know\n", order);
        wrong = order != 3;
    }
    kr_join_destroy(join);
    return wrong;
}

int main(void)
{
    kr_device *device = NULL;
    kr_error err = {0};
    int wrong = failed(kr_device_open("auto", NULL, &device, &err), &err);
    if (!wrong)
        wrong = inner_join(device) | anti_join(device);
    kr_device_close(device);
    return wrong;
}
