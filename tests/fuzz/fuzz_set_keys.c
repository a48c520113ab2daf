/* Sequences of kr_index_set_keys, made of bytes, on a small index of u8 keys: after each call every key has
 * the rows that an array has. The first byte names the spec, the second the number of rows, then come their
 * keys and the changes: a number of pairs, and row and key of each. */
#include "standalone.h"

#include <keyray/keyray.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 64, VALUES = 256, MOST_CHANGES = 16 };

static const char *const specs[] = {
    "rx:bits=3:2:3",
    "rx:update=refit",
    "rx:update=refit,order=row,parts=3,bits=1:6:1",
    "rx:mode=extended,order=row,update=refit,prim=aabb",
    "rx:mode=naive,dedupe=off,parts=5",
};

static void require(int held, const char *what, const char *text)
{
    if (held)
        return;
    fprintf(stderr, "broken: %s: %s\n", what, text);
    abort();
}

/* Every value is looked up. */
static void check(kr_index *index, const uint8_t *keys, uint32_t n)
{
    uint8_t values[VALUES];
    uint64_t counts[VALUES];
    uint32_t rows[VALUES], want_rows[VALUES];
    uint64_t want[VALUES] = {0};
    kr_error err = {0};
    const kr_column probes = {.type = KR_U8, .count = VALUES, .data = values};
    const kr_sink count = {.struct_size = sizeof count, .result = KR_RESULT_COUNT, .out = counts};
    const kr_sink row = {.struct_size = sizeof row, .result = KR_RESULT_ROW, .out = rows};
    for (uint32_t v = 0; v < VALUES; ++v)
        values[v] = (uint8_t)v;
    memset(want_rows, 0xFF, sizeof want_rows);
    for (uint32_t i = n; i-- > 0;) {
        ++want[keys[i]];
        want_rows[keys[i]] = i;
    }
    require(kr_index_validate(index, &err) == KR_OK, "the index is valid", err.text);
    require(kr_index_lookup(index, &probes, &count, NULL, &err) == KR_OK, "keys can be counted", err.text);
    require(kr_index_range(index, &probes, &probes, &row, NULL, &err) == KR_OK, "rows can be had", err.text);
    require(memcmp(counts, want, sizeof want) == 0, "every key is in as many rows as it should be", "counts");
    require(memcmp(rows, want_rows, sizeof rows) == 0, "every key has its smallest row", "rows");
}

/* One change; errors in it must be found. Returns the bytes read. */
static size_t change(kr_index *index, uint8_t *keys, uint32_t n, const uint8_t *data, size_t nbytes)
{
    uint32_t rows[MOST_CHANGES];
    uint8_t changed[MOST_CHANGES], seen[VALUES] = {0};
    uint64_t count = 0;
    int wrong = 0;
    kr_error err = {0};
    const uint64_t wanted = data[0] % MOST_CHANGES;
    size_t at = 1;
    for (; count < wanted && at + 2 <= nbytes; at += 2) {
        rows[count] = data[at] % (MOST_ROWS + 2);
        changed[count] = data[at + 1];
        wrong |= rows[count] >= n || seen[rows[count]]++;
        ++count;
    }
    const kr_column column = {.type = KR_U8, .count = count, .data = changed};
    const kr_status status = kr_index_set_keys(index, rows, &column, NULL, &err);
    require(status == (wrong ? KR_ERR_ARGUMENT : KR_OK), "a change is made, or refused when it is wrong",
            err.text);
    for (uint64_t i = 0; i < count && !wrong; ++i)
        keys[rows[i]] = changed[i];
    return at;
}

/* NULL where nothing casts rays. */
static kr_device *open_device(void)
{
    static kr_device *device;
    kr_error err = {0};
    const kr_device_options options = {.struct_size = sizeof options, .threads = 1};
    if (!device)
        require(kr_device_open("cpu", &options, &device, &err) == KR_OK, "the device opens", err.text);
    return device;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    uint8_t keys[MOST_ROWS + 1] = {0};
    kr_error err = {0};
    kr_index *index = NULL;
    if (nbytes < 2)
        return 0;
    const uint32_t n = data[1] % (MOST_ROWS + 1);
    size_t at = 2;
    for (uint32_t i = 0; i < n && at < nbytes; ++i)
        keys[i] = data[at++];
    const kr_column column = {.type = KR_U8, .count = n, .data = keys};
    const kr_status status = kr_index_create(open_device(), specs[data[0] % (sizeof specs / sizeof specs[0])],
                                             &column, NULL, NULL, &index, &err);
    if (status == KR_ERR_UNSUPPORTED)
        return 0;
    require(status == KR_OK, "the index is built", err.text);
    check(index, keys, n);
    while (at < nbytes) {
        at += change(index, keys, n, data + at, nbytes - at);
        check(index, keys, n);
    }
    kr_index_destroy(index);
    return 0;
}

#ifndef KR_LIBFUZZER
int main(int argc, char **argv)
{
    static const struct kr_fuzz_seed seeds[] = {
        KR_SEED("\0\5abcde\1\0z\2\1\0\2\0\3\0a\1a\2a"),
        KR_SEED("\1\x20"
                "12345678901234567890123456789012\5\0\xff\1\xfe\2\0\3\1\4\2\1\0\0\0"),
        KR_SEED("\2\x09"
                "\0\1\2\3\4\5\6\7\x80\4\0\x80\x08\0\1\1\2\2\2\x09z\0z"),
        KR_SEED("\3\7aaaaaaa\7\0a\1b\2c\3d\4e\5f\6g\7\0g\1f\2e\3d\4c\5b\6a"),
        KR_SEED("\4\x3f"
                "zyxwvutsrqponmlkjihgfedcba\x0f\0a\1a\2a\3a\4a\5a\6a\7a\x08"
                "a\x09"
                "a\x0a"
                "a\x0b"
                "a\x0c"
                "a\x0d"
                "a\x0e"
                "a"),
        KR_SEED("\1\0\0\1\0a"),
        KR_SEED("\2\1a\1\0b\2\0c\0d\1\1e"),
    };
    const uint8_t key = 0;
    const kr_column column = {.type = KR_U8, .count = 1, .data = &key};
    kr_error err = {0};
    kr_index *index = NULL;
    if (kr_index_create(open_device(), specs[0], &column, NULL, NULL, &index, &err) == KR_ERR_UNSUPPORTED) {
        printf("skipped: %s\n", err.text);
        return 77;
    }
    kr_index_destroy(index);
    const int failed = kr_fuzz_main(argc, argv, seeds, sizeof seeds / sizeof seeds[0], 2000);
    kr_device_close(open_device());
    return failed;
}
#endif
