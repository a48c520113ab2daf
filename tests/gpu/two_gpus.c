/* Memory of another GPU is refused by name, and each GPU answers for itself. Skipped with fewer than two. */
#include <keyray/keyray.h>

#include <stdio.h>
#include <string.h>

enum { SKIPPED = 77, N = 1 << 20 };

static int failed;
static kr_error err;

static void check(int good, const char *what)
{
    failed += !good;
    printf("%s %s%s%s\n", good ? "ok    " : "FAILED", what, good ? "" : ": ", good ? "" : err.text);
}

int main(void)
{
    static uint32_t keys[N], rows[N];
    kr_device *one = NULL, *other = NULL;
    kr_index *index = NULL;
    void *memory = NULL;
    for (uint32_t i = 0; i < N; ++i)
        keys[i] = i * 2654435761u;
    if (kr_device_open("cuda:0", NULL, &one, &err) || kr_device_open("cuda:1", NULL, &other, &err)) {
        printf("skipped: %s\n", err.text);
        kr_device_close(one);
        return SKIPPED;
    }
    kr_column column = {.type = KR_U32, .count = N, .data = keys};
    const kr_sink sink = {.struct_size = sizeof sink, .result = KR_RESULT_ROW, .out = rows};
    check(kr_memory_allocate(other, sizeof keys, NULL, &memory, &err) == KR_OK &&
              kr_memory_copy(other, memory, keys, sizeof keys, NULL, &err) == KR_OK,
          "memory of the second GPU");
    check(kr_index_create(one, "array", &column, NULL, NULL, &index, &err) == KR_OK, "an index on the first");
    column.data = memory;
    check(kr_index_lookup(index, &column, &sink, NULL, &err) == KR_ERR_ARGUMENT && strstr(err.text, "cuda:0"),
          "probes on the second GPU are refused, and the error names the first");
    kr_index_destroy(index);
    index = NULL;
    check(kr_index_create(one, "array", &column, NULL, NULL, &index, &err) == KR_ERR_ARGUMENT,
          "keys on the second GPU are refused by the first");
    check(kr_index_create(other, "array", &column, NULL, NULL, &index, &err) == KR_OK,
          "the second indexes them");
    check(index && kr_index_lookup(index, &column, &sink, NULL, &err) == KR_OK, "and looks them up");
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < N; ++i)
        wrong += rows[i] != i;
    check(wrong == 0, "every row is right");
    kr_index_destroy(index);
    kr_memory_release(other, memory, sizeof keys, NULL);
    kr_device_close(other);
    kr_device_close(one);
    printf("%d passed, %d failed, 0 skipped\n", 7 - failed, failed);
    return failed != 0;
}
