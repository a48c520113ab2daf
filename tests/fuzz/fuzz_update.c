/* Sequences of kr_index_update, made of bytes, on a small index of u8 keys: after each call every key has the
 * rows that an array has. The first byte names the spec, the second the number of rows. Then come their keys
 * and the batches: a byte of flags, the number of deleted keys and the keys, the number of inserted keys and
 * the keys. */
#include "random_spec.h"
#include "standalone.h"

#include <keyray/keyray.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 64, VALUES = 256, MOST_CHANGES = 48, ROOM = 2048, MOST_SPECS = 256 };

/* Options of cgrx that change what an update does. The others are every kind that takes updates, alone and
 * with each of its own options at its ends. */
static const char *const chosen[] = {
    "cgrx:updates=on,bits=3:2:3,node=4",
    "cgrx:updates=on,bits=3:2:3,node=2,rebuild=never",
    "cgrx:updates=on,bits=3:2:3,node=6,scene=naive,rays=paper,rebuild=never,layout=aos",
    "cgrx:updates=on,bits=1:6:1,node=3,fill=1,rebuild=1.1,layout=padded,search=linear",
    "cgrx:updates=on,bits=8:0:0,node=4,filter=8,rebuild=never",
    "cgrx:updates=on,bits=3:2:3,node=2,apply=split,rebuild=never",
    "cgrx:preset=paper,updates=on,bits=3:2:3,node=5",
};

/* The rows that the index should have, in no order. */
typedef struct rows {
    uint32_t n, next; /* the next row id */
    uint32_t ids[ROOM];
    uint8_t keys[ROOM];
} rows;

static void require(int held, const char *what, const char *text)
{
    if (held)
        return;
    fprintf(stderr, "broken: %s: %s\n", what, text);
    abort();
}

/* ---- Specs ----------------------------------------------------------------------------------- */

static struct {
    char text[MOST_SPECS][KR_SPEC_NBYTES];
    uint32_t can[MOST_SPECS]; /* KR_CAN_* */
    uint32_t n;
} specs;

/* Unless the library refuses it. */
static void add_spec(const char *text, uint32_t can)
{
    char complete[KR_SPEC_NBYTES];
    if (kr_spec_complete(text, complete, sizeof complete, NULL) != KR_OK)
        return;
    require(specs.n < MOST_SPECS && strlen(text) < KR_SPEC_NBYTES, "there is room for a spec", text);
    strcpy(specs.text[specs.n], text);
    specs.can[specs.n++] = can;
}

/* A number at both ends; of words the first and the last. */
static void add_option(const char *kind, const kr_option_info *option, uint32_t can)
{
    char text[2 * KR_SPEC_NBYTES];
    const char *link = strchr(kind, ':') ? "," : ":", *words = option->choices ? option->choices : "";
    const char *last = strrchr(words, '|');
    const int has_numbers = option->form == KR_OPTION_INTEGER || option->form == KR_OPTION_DECIMAL;
    const double ends[] = {option->minimum, option->maximum};
    for (int i = 0; i < 2 && has_numbers; ++i) {
        snprintf(text, sizeof text, "%s%s%s=%.*f", kind, link, option->name,
                 option->form == KR_OPTION_DECIMAL ? 3 : 0, ends[i]);
        add_spec(text, can);
    }
    if (!words[0] || strcmp(option->name, "updates") == 0)
        return;
    snprintf(text, sizeof text, "%s%s%s=%.*s", kind, link, option->name, (int)strcspn(words, "|"), words);
    add_spec(text, can);
    snprintf(text, sizeof text, "%s%s%s=%s", kind, link, option->name, last ? last + 1 : words);
    add_spec(text, can);
}

static void make_specs(void)
{
    kr_kind_info kind = {.struct_size = sizeof kind};
    kr_option_info option = {.struct_size = sizeof option};
    char text[KR_SPEC_NBYTES];
    for (size_t i = 0; i < sizeof chosen / sizeof chosen[0]; ++i)
        add_spec(chosen[i], KR_CAN_POINT | KR_CAN_RANGE);
    for (uint32_t k = 0; kr_kind_query(k, &kind, NULL) == KR_OK; ++k) {
        if (!kr_updating_spec(k, text))
            continue;
        add_spec(text, kind.capabilities);
        for (uint32_t i = 0; i < kind.option_count && kr_option_query(k, i, &option, NULL) == KR_OK; ++i)
            add_option(text, &option, kind.capabilities);
    }
}

/* ---- The index and the rows that it should have ---------------------------------------------- */

/* Every value is looked up, and every range that ends at the largest. */
static void check(kr_index *index, const rows *r, uint32_t can)
{
    uint8_t values[VALUES], last[VALUES];
    uint64_t counts[VALUES], from[VALUES], want[VALUES] = {0}, want_from[VALUES];
    uint32_t firsts[VALUES], want_firsts[VALUES];
    kr_error err = {0};
    const kr_column probes = {.type = KR_U8, .count = VALUES, .data = values};
    const kr_column upper = {.type = KR_U8, .count = VALUES, .data = last};
    const kr_sink count = {.struct_size = sizeof count, .result = KR_RESULT_COUNT, .out = counts};
    const kr_sink sum = {.struct_size = sizeof sum, .result = KR_RESULT_COUNT, .out = from};
    const kr_sink row = {.struct_size = sizeof row, .result = KR_RESULT_ROW, .out = firsts};
    memset(want_firsts, 0xFF, sizeof want_firsts);
    memset(last, 0xFF, sizeof last);
    for (uint32_t i = 0; i < r->n; ++i) {
        ++want[r->keys[i]];
        if (r->ids[i] < want_firsts[r->keys[i]])
            want_firsts[r->keys[i]] = r->ids[i];
    }
    for (uint32_t v = VALUES; v-- > 0;) {
        values[v] = (uint8_t)v;
        want_from[v] = want[v] + (v + 1 < VALUES ? want_from[v + 1] : 0);
    }
    require(kr_index_validate(index, &err) == KR_OK, "the index is valid", err.text);
    require(kr_index_lookup(index, &probes, &count, NULL, &err) == KR_OK, "keys can be counted", err.text);
    require(kr_index_lookup(index, &probes, &row, NULL, &err) == KR_OK, "rows can be had", err.text);
    require(memcmp(counts, want, sizeof want) == 0, "every key is in as many rows as it should be", "counts");
    require(memcmp(firsts, want_firsts, sizeof firsts) == 0, "every key has its smallest row", "rows");
    if (!(can & KR_CAN_RANGE))
        return;
    require(kr_index_range(index, &probes, &upper, &sum, NULL, &err) == KR_OK, "ranges can be counted",
            err.text);
    require(memcmp(from, want_from, sizeof from) == 0, "every range has its rows", "counts");
}

static void delete_keys(rows *r, const uint8_t *keys, uint32_t n)
{
    uint32_t left = 0;
    uint8_t gone[VALUES] = {0};
    for (uint32_t i = 0; i < n; ++i)
        gone[keys[i]] = 1;
    for (uint32_t i = 0; i < r->n; ++i)
        if (!gone[r->keys[i]]) {
            r->keys[left] = r->keys[i];
            r->ids[left++] = r->ids[i];
        }
    r->n = left;
}

/* Ids that no row has, high and low ones in turn. */
static void choose_ids(const rows *r, uint32_t *ids, uint32_t n)
{
    uint8_t taken[2 * ROOM] = {0};
    for (uint32_t i = 0; i < r->n; ++i)
        if (r->ids[i] < 2 * ROOM)
            taken[r->ids[i]] = 1;
    for (uint32_t i = 0; i < n; ++i) {
        uint32_t id = i % 2 ? 0 : i * 29;
        while (taken[id])
            ++id;
        taken[id] = 1;
        ids[i] = id;
    }
}

/* A number, then that many keys, as far as the bytes go. */
static uint32_t take_keys(const uint8_t *data, size_t nbytes, size_t *at, uint8_t *keys)
{
    const uint32_t wanted = *at < nbytes ? data[(*at)++] % MOST_CHANGES : 0;
    uint32_t n = 0;
    while (n < wanted && *at < nbytes)
        keys[n++] = data[(*at)++];
    return n;
}

/* One batch. Bits of its first byte: the caller gives row ids, the second insert is NULL, so is the first
 * delete. Returns the bytes read. */
static size_t change(kr_index *index, rows *r, const uint8_t *data, size_t nbytes)
{
    static const uint8_t all_but_second[MOST_CHANGES / 8] = {0xFD, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    static const uint8_t all_but_first[MOST_CHANGES / 8] = {0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    uint8_t deleted[MOST_CHANGES], inserted[MOST_CHANGES];
    uint32_t ids[MOST_CHANGES];
    const uint8_t what = data[0];
    kr_error err = {0};
    size_t at = 1;
    const uint32_t n_deleted = take_keys(data, nbytes, &at, deleted);
    const uint32_t n_inserted = take_keys(data, nbytes, &at, inserted);
    kr_column deletes = {.type = KR_U8, .count = n_deleted, .data = deleted};
    kr_column inserts = {.type = KR_U8, .count = n_inserted, .data = inserted};
    const uint32_t skips_first = what & 4 && n_deleted;
    deletes.validity = what & 4 ? all_but_first : NULL;
    inserts.validity = what & 2 ? all_but_second : NULL;
    delete_keys(r, deleted + skips_first, n_deleted - skips_first);
    if (what & 1)
        choose_ids(r, ids, n_inserted);
    for (uint32_t i = 0; i < n_inserted; ++i) {
        const uint32_t id = what & 1 ? ids[i] : r->next + i;
        if (what & 2 && i == 1)
            continue;
        r->keys[r->n] = inserted[i];
        r->ids[r->n++] = id;
    }
    require(kr_index_update(index, n_inserted ? &inserts : NULL, what & 1 && n_inserted ? ids : NULL,
                            n_deleted ? &deletes : NULL, NULL, &err) == KR_OK,
            "a batch is taken", err.text);
    return at;
}

static kr_device *open_device(void)
{
    static kr_device *device;
    kr_error err = {0};
    const kr_device_options options = {.struct_size = sizeof options, .threads = 1};
    if (!device)
        require(kr_device_open("cpu", &options, &device, &err) == KR_OK, "the device opens", err.text);
    return device;
}

static uint64_t n_built;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    static rows r;
    kr_error err = {0};
    kr_index *index = NULL;
    kr_index_info info = {.struct_size = sizeof info};
#ifdef KR_LIBFUZZER
    if (!specs.n)
        make_specs();
#endif
    if (nbytes < 2)
        return 0;
    r.n = data[1] % (MOST_ROWS + 1);
    size_t at = 2;
    for (uint32_t i = 0; i < r.n; ++i) {
        r.keys[i] = at < nbytes ? data[at++] : 0;
        r.ids[i] = i;
    }
    const kr_column column = {.type = KR_U8, .count = r.n, .data = r.keys};
    const uint32_t number = data[0] % specs.n;
    const kr_status status =
        kr_index_create(open_device(), specs.text[number], &column, NULL, NULL, &index, &err);
    if (status == KR_ERR_UNSUPPORTED)
        return 0;
    require(status == KR_OK, specs.text[number], err.text);
    ++n_built;
    check(index, &r, specs.can[number]);
    while (at < nbytes && r.n + MOST_CHANGES <= ROOM) {
        require(kr_index_query(index, &info, &err) == KR_OK, "facts can be had", err.text);
        require(info.rows == r.n, "facts say how many rows there are", "rows");
        r.next = (uint32_t)info.next_row;
        at += change(index, &r, data + at, nbytes - at);
        check(index, &r, specs.can[number]);
    }
    kr_index_destroy(index);
    return 0;
}

#ifndef KR_LIBFUZZER
static const struct kr_fuzz_seed seeds[] = {
    KR_SEED("\0\7aabbcde\0\2az\3aqz\1\0\5ccccc\0\7aabbcde\0"),
    KR_SEED("\1\x20"
            "12345678901234567890123456789012\0\3\x31\x31\x38\x0a\x07\x0f\x17\x1f\xff\xfe\0\1\2\3\2\4\x39"
            "\x38\x37"
            "\x36\x05\x07\x07\x07\x07\x07"),
    KR_SEED("\2\x10"
            "\x07\x07\x0f\x0f\x17\x1f\x27\x2f\x3f\x3f\x3f\x40\x7f\x80\xbf\xff\0\0\x08\x07\x07\x07\x07\x3e"
            "\x3d\xfe\xff"
            "\0\4\x07\x0f\x3f\xff\4\x07\x3f\xff\0"),
    KR_SEED("\3\6aaaaaa\1\1a\6aaaaaa\1\0\6aaaaaa\3\0\6bbbbbb\4\2ab\0"),
    KR_SEED("\4\x18"
            "abcdefghijklmnopqrstuvwx\0\x18"
            "abcdefghijklmnopqrstuvwx\0\0\0\x18"
            "xwvutsrqponmlkjihgfedcba\1\5abcde\5edcba"),
    KR_SEED("\1\0\0\0\6zyxabc\0\3abc\0\1\0\x0a"
            "0123456789"),
    KR_SEED("\2\1\xff\0\0\3\0\1\xff\0\1\xff\2\0\xff"),
};
enum { SEEDS = sizeof seeds / sizeof seeds[0], RUNS_OF_A_SPEC = 40 };

/* Every spec gets a seed of its own: those above in turn, with another first byte. */
int main(int argc, char **argv)
{
    static char bytes[MOST_SPECS][512];
    static struct kr_fuzz_seed own[MOST_SPECS];
    make_specs();
    for (uint32_t i = 0; i < specs.n; ++i) {
        const struct kr_fuzz_seed *from = &seeds[i % SEEDS];
        require(from->nbytes <= sizeof bytes[i], "a seed is short", from->data);
        memcpy(bytes[i], from->data, from->nbytes);
        bytes[i][0] = (char)i;
        own[i] = (struct kr_fuzz_seed){bytes[i], from->nbytes};
    }
    const int failed = kr_fuzz_main(argc, argv, own, specs.n, (int)specs.n * RUNS_OF_A_SPEC);
    kr_device_close(open_device());
    if (n_built)
        return failed;
    printf("skipped: no kind of this build takes updates on this machine\n");
    return 77;
}
#endif
