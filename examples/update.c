/* Rows are deleted and inserted: an index is looked up, changed, and looked up again.
 *
 * A call first deletes the rows of its delete_keys, then inserts its insert_keys. Here the caller gives their
 * row ids; by default they follow the largest one. */
#include <keyray/keyray.h>
#include <stdio.h>
#include <string.h>

enum { ORDERS = 6, NEW = 3, CANCELLED = 2, PROBES = 4 };

/* Customers of six orders, which are rows 0 to 5. */
static const uint32_t customers[ORDERS] = {7, 3, 7, 9, 3, 5};
/* Customers 3 and 4 cancel all of their orders; 4 has none, which is not an error. */
static const uint32_t cancelled[CANCELLED] = {3, 4};
/* Orders 6, 7 and 10. Customer 3 orders again, and keeps the new order. */
static const uint32_t new_customers[NEW] = {7, 3, 8}, new_rows[NEW] = {6, 7, 10};
/* Pieces of each order. There is a value for every row id below next_row, whether a row has it or not. */
static const uint32_t pieces[11] = {2, 1, 4, 3, 5, 6, 10, 20, 0, 0, 30};

static const uint32_t wanted[PROBES] = {3, 5, 7, 8};
static const kr_column probes = {.type = KR_U32, .count = PROBES, .data = wanted};

static int failed(kr_status status, const kr_error *err)
{
    if (status != KR_OK)
        fprintf(stderr, "%s: %s\n", kr_status_name(status), err->text);
    return status != KR_OK;
}

/* Compares the orders of each wanted customer, and their pieces, with the right numbers. */
static int look_up(kr_index *index, const char *when, const uint64_t counts[PROBES],
                   const uint64_t sums[PROBES])
{
    kr_error err = {0};
    kr_index_info info = {.struct_size = sizeof info};
    uint64_t count[PROBES], sum[PROBES];
    if (failed(kr_index_query(index, &info, &err), &err))
        return 1;
    const kr_column values = {.type = KR_U32, .count = info.next_row, .data = pieces};
    const kr_sink how_many = {.struct_size = sizeof how_many, .result = KR_RESULT_COUNT, .out = count};
    const kr_sink of_pieces = {
        .struct_size = sizeof of_pieces, .result = KR_RESULT_SUM, .values = &values, .out = sum};
    if (failed(kr_index_lookup(index, &probes, &how_many, NULL, &err), &err) ||
        failed(kr_index_lookup(index, &probes, &of_pieces, NULL, &err), &err))
        return 1;

    const int wrong = memcmp(count, counts, sizeof count) != 0 || memcmp(sum, sums, sizeof sum) != 0;
    printf("%s: %llu rows, the next is row %llu%s\n", when, (unsigned long long)info.rows,
           (unsigned long long)info.next_row, wrong ? ", WRONG" : "");
    for (int i = 0; i < PROBES; ++i)
        printf("  customer %u: %llu orders, %llu pieces\n", wanted[i], (unsigned long long)count[i],
               (unsigned long long)sum[i]);
    return wrong;
}

static int change(kr_index *index)
{
    const kr_column deletes = {.type = KR_U32, .count = CANCELLED, .data = cancelled};
    const kr_column inserts = {.type = KR_U32, .count = NEW, .data = new_customers};
    kr_error err = {0};
    /* The index must not be in use during the call; the columns may be freed after it. */
    return failed(kr_index_update(index, &inserts, new_rows, &deletes, NULL, &err), &err) ||
           /* With row ids from the caller, only validation finds two rows with the same id. */
           failed(kr_index_validate(index, &err), &err);
}

int main(void)
{
    const kr_column keys = {.type = KR_U32, .count = ORDERS, .data = customers};
    kr_device *device = NULL;
    kr_index *index = NULL;
    kr_error err = {0};
    int wrong = failed(kr_device_open("auto", NULL, &device, &err), &err) ||
                failed(kr_index_create(device, "best:updates=on", &keys, NULL, NULL, &index, &err), &err);
    if (!wrong)
        wrong = look_up(index, "before", (uint64_t[]){2, 1, 2, 0}, (uint64_t[]){1 + 5, 6, 2 + 4, 0}) ||
                change(index) ||
                look_up(index, "after", (uint64_t[]){1, 1, 3, 1}, (uint64_t[]){20, 6, 2 + 4 + 10, 30});
    kr_index_destroy(index);
    kr_device_close(device);
    return wrong != 0;
}
