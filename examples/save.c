/* An index is saved, mapped again and looked up, as a program would that starts anew.
 *
 *     cc save.c $(pkg-config --cflags --libs keyray) && ./a.out                                         */
#include <keyray/keyray.h>
#include <stdio.h>

enum { ORDERS = 6, PROBES = 3 };

static const uint32_t customers[ORDERS] = {7, 3, 7, 9, 3, 5};
static const uint32_t wanted[PROBES] = {3, 7, 8};
static const char path[] = "orders.krx", note[] = "customers of orders, January";

static int failed(kr_status status, const kr_error *err)
{
    if (status != KR_OK)
        fprintf(stderr, "%s: %s\n", kr_status_name(status), err->text);
    return status != KR_OK;
}

/* The file keeps a few bytes of ours as well. */
static int save(kr_device *device)
{
    const kr_column keys = {.type = KR_U32, .count = ORDERS, .data = customers};
    const kr_attachment attachment = {"note", note, sizeof note};
    const kr_save_options options = {
        .struct_size = sizeof options, .attachments = &attachment, .n_attachments = 1};
    kr_index *index = NULL;
    kr_error err = {0};
    const int wrong = failed(kr_index_create(device, "array", &keys, NULL, NULL, &index, &err), &err) ||
                      failed(kr_index_save(index, path, &options, NULL, &err), &err);
    kr_index_destroy(index);
    return wrong;
}

static int show(const kr_saved *saved)
{
    kr_saved_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    if (failed(kr_saved_query(saved, &info, &err), &err))
        return 1;
    printf("%s: %s, %llu rows, saved by version %s: %s\n", path, info.spec, (unsigned long long)info.rows,
           info.version, (const char *)kr_saved_attachment(saved, "note", NULL));
    return 0;
}

/* The file is closed before the index is used: what is mapped stays. */
static int load(kr_device *device, kr_index **index)
{
    kr_saved *saved = NULL;
    kr_error err = {0};
    if (failed(kr_saved_open(path, NULL, &saved, &err), &err))
        return 1;
    const int wrong = show(saved) || failed(kr_index_load(device, saved, NULL, index, &err), &err);
    kr_saved_close(saved);
    return wrong;
}

int main(void)
{
    const kr_column probes = {.type = KR_U32, .count = PROBES, .data = wanted};
    uint64_t counts[PROBES] = {0};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_COUNT, .out = counts};
    kr_device *device = NULL;
    kr_index *index = NULL;
    kr_error err = {0};
    int wrong = failed(kr_device_open("auto", NULL, &device, &err), &err) || save(device) ||
                load(device, &index) || failed(kr_index_lookup(index, &probes, &sink, NULL, &err), &err);
    for (int i = 0; i < PROBES && !wrong; ++i)
        printf("customer %u: %llu orders\n", wanted[i], (unsigned long long)counts[i]);
    wrong = wrong || counts[0] != 2 || counts[1] != 2 || counts[2] != 0;
    kr_index_destroy(index);
    kr_device_close(device);
    remove(path);
    return wrong;
}
