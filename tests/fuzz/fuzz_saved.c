/* Saved indexes whose numbers and arrays were changed and whose checksums were then made right: loading
 * refuses them, or gives an index that can be asked and changed like any other, whatever it answers. Nothing
 * may be read or written outside of its arrays, and nothing may go on for ever.
 *
 * The bytes are a script: two that choose a spec, one for the type of the keys, one for what was done before
 * the index was saved; then changes, four bytes each: what, which field, where, and the new value. Without
 * arguments, every number and every word of the files of some specs is changed in turn first. */
#include "random_spec.h"
#include "saved_files.h"
#include "standalone.h"

enum { ROWS = 72, VALUES = 64, MORE = 24, HIGHEST_ROW = 4 * (ROWS + MORE), ROOM = 1 << 14 };

static const kr_type types[] = {KR_U32, KR_U64, KR_U8, KR_F32};
enum { TYPES = sizeof types / sizeof *types };

static struct {
    uint64_t saved, loaded, refused;
} done;

static void require(int held, const char *what, const char *text)
{
    if (held)
        return;
    fprintf(stderr, "broken: %s: %s\n", what, text);
    abort();
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

/* ---- Keys --------------------------------------------------------------------------------------- */

/* Value v of a type: in the order of v, with gaps that lead to other rows of a scene. */
static void put_value(kr_type type, void *data, uint32_t at, uint32_t v)
{
    if (type == KR_U8)
        ((uint8_t *)data)[at] = (uint8_t)(3 * v);
    else if (type == KR_U32)
        ((uint32_t *)data)[at] = v * 0x3000001u;
    else if (type == KR_F32)
        ((float *)data)[at] = (float)v * 0x1p60f - 0x1p64f;
    else
        ((uint64_t *)data)[at] = v * (UINT64_C(0x0300000100000400) + (v & 1 ? 0x5000000 : 0));
}

typedef struct values {
    kr_column column;
    uint64_t data[ROWS + VALUES];
} values;

/* `some`: values first, first + step, ...; each `twice` times. */
static void make_values(kr_type type, uint32_t n, uint32_t first, uint32_t step, uint32_t times, values *made)
{
    for (uint32_t i = 0; i < n; ++i)
        put_value(type, made->data, i, (first + i / times * step) % VALUES);
    made->column = (kr_column){.type = type, .count = n, .data = made->data};
}

/* ---- An index in a file ------------------------------------------------------------------------- */

/* Deletes some keys and inserts others, or gives rows other keys, or neither. */
static void change(kr_index *index, const char *spec, kr_type type)
{
    static values inserts, deletes;
    uint32_t ids[MORE];
    kr_error err = {0};
    make_values(type, MORE, 1, 5, 3, &inserts);
    make_values(type, 6, 4, 9, 1, &deletes);
    for (uint32_t i = 0; i < MORE; ++i)
        ids[i] = 4 * i % (4 * ROWS);
    /* Of kinds that do neither, both are refused. */
    (void)kr_index_update(index, &inserts.column, NULL, &deletes.column, NULL, &err);
    if (capabilities_of(spec) & KR_CAN_SET_KEYS)
        (void)kr_index_set_keys(index, ids, &inserts.column, NULL, &err);
}

/* No bytes where the device does not run the spec, or the spec not the keys. */
static bytes make_file(const char *spec, kr_type type, int changes)
{
    static values keys;
    uint32_t ids[ROWS];
    kr_index *index = NULL;
    kr_error err = {0};
    make_values(type, ROWS, 2, 1, 2, &keys);
    for (uint32_t i = 0; i < ROWS; ++i)
        ids[i] = 4 * i;
    for (uint32_t i = ROWS / 2; i < ROWS / 2 + 8; ++i) /* a key with many rows */
        put_value(type, keys.data, i, 20);
    if (kr_index_create(open_device(), spec, &keys.column, ids, NULL, &index, &err) != KR_OK)
        return (bytes){NULL, 0};
    for (int i = 0; i < changes; ++i)
        change(index, spec, type);
    const bytes made = bytes_of_index(index, NULL);
    kr_index_destroy(index);
    ++done.saved;
    return made;
}

/* ---- What an index is asked --------------------------------------------------------------------- */

/* Lists as long as the offsets say, and one sum over a column that covers all row ids. */
static void ask(kr_index *index, const char *spec, const kr_column *lower, const kr_column *upper)
{
    static uint64_t offsets[VALUES + 1], sums[VALUES];
    static uint32_t rows[ROOM], first[VALUES];
    static int32_t column[HIGHEST_ROW];
    const kr_column covered = {.type = KR_I32, .count = HIGHEST_ROW, .data = column};
    kr_index_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    const kr_sink counts = {.struct_size = sizeof counts, .result = KR_RESULT_COUNT, .out = sums};
    const kr_sink row = {.struct_size = sizeof row, .result = KR_RESULT_ROW, .out = first};
    kr_sink lists = {.struct_size = sizeof lists,
                     .result = KR_RESULT_ROWS,
                     .out = offsets,
                     .rows = rows,
                     .rows_capacity = ROOM};
    kr_sink sum = {.struct_size = sizeof sum, .result = KR_RESULT_SUM, .out = sums, .values = &covered};
    kr_sink row_sum = {.struct_size = sizeof row_sum, .result = KR_RESULT_SUM_ROWS, .out = sums};
    const kr_sink *sinks[] = {&counts, &row, &lists, &row_sum, &sum};
    require(kr_index_query(index, &info, &err) == KR_OK, "facts can be had", err.text);
    for (int i = 0; i < 4 + (info.next_row <= HIGHEST_ROW); ++i) {
        (void)kr_index_lookup(index, lower, sinks[i], NULL, &err);
        if (capabilities_of(spec) & KR_CAN_RANGE)
            (void)kr_index_range(index, lower, upper, sinks[i], NULL, &err);
    }
    const kr_nearest_options near = {.struct_size = sizeof near, .side = KR_NEAREST_EITHER};
    if (capabilities_of(spec) & KR_CAN_NEAREST)
        (void)kr_index_nearest(index, lower, &near, &row, NULL, &err);
    for (uint32_t i = 0; kr_index_counter_name(index, i); ++i)
        (void)kr_index_counter_value(index, i);
}

/* Answers, changes, answers, and what is then saved. */
static void use(kr_index *index, kr_type type)
{
    static values lower, upper;
    kr_index_info info = {.struct_size = sizeof info};
    kr_error err = {0};
    require(kr_index_query(index, &info, &err) == KR_OK, "facts can be had", err.text);
    make_values(type, VALUES, 0, 1, 1, &lower);
    make_values(type, VALUES, VALUES - 1, 0, 1, &upper);
    for (int i = 0; i < 3; ++i) {
        ask(index, info.spec, &lower.column, &upper.column);
        (void)kr_index_validate(index, &err);
        change(index, info.spec, type);
    }
    const bytes again = bytes_of_index(index, NULL);
    free(again.data);
}

static void load_and_use(const bytes *file, kr_type type)
{
    kr_saved *saved = NULL;
    kr_index *index = NULL;
    kr_error err = {0};
    if (kr_saved_open_memory(file->data, file->n, NULL, &saved, &err) == KR_OK) {
        const kr_status status = kr_index_load(open_device(), saved, NULL, &index, &err);
        require(status == KR_OK || err.text[0], "a refusal says why", kr_status_name(status));
        require(status != KR_ERR_INTERNAL && status != KR_ERR_INVARIANT, "the file is to blame", err.text);
    }
    kr_saved_close(saved);
    ++*(index ? &done.loaded : &done.refused);
    if (index)
        use(index, type);
    kr_index_destroy(index);
}

/* ---- Changes of a file -------------------------------------------------------------------------- */

/* Values that searches may stumble over. */
static uint64_t odd_value(uint64_t old, uint8_t how)
{
    const uint64_t odd[] = {0,
                            1,
                            old + 1,
                            old - 1,
                            ~UINT64_C(0),
                            UINT32_MAX,
                            2 * old,
                            old / 2,
                            UINT64_C(1) << 31,
                            old ^ 1u << how % 32,
                            how,
                            KR_NO_ROW - 1,
                            old + 8,
                            old - 1000,
                            old ^ UINT64_C(1) << how % 64};
    return odd[how / 16 % (sizeof odd / sizeof *odd)];
}

/* A word of an array gets an odd value, or that of another word. */
static void change_word(bytes *file, const file_field *array, uint8_t what, uint8_t where, uint8_t how)
{
    const uint64_t words = array->value / 4, each = what & 1 && words > 1 ? 8 : 4;
    if (!words)
        return;
    const uint64_t at = array->offset + (where * UINT64_C(257) + what) % (array->value / each) * each,
                   other = array->offset + (where * UINT64_C(131) + how) % (array->value / each) * each;
    const uint64_t old = number_at(file, at, (uint32_t)each);
    put_number(file, at, what & 2 ? number_at(file, other, (uint32_t)each) : odd_value(old, how),
               (uint32_t)each);
}

/* A number becomes another, and arrays that were as many times as long stay so, as far as there is room. */
static void change_size(bytes *file, const file_field *number, uint64_t value)
{
    uint64_t at = directory_at(file) + 8;
    put_number(file, number->value_at, value, 8);
    for (uint32_t i = 0; number->value && value && i < field_count(file); ++i) {
        const file_field array = field_at(file, &at);
        const uint64_t each = array.value / number->value, room = (array.value + 4095) / 4096 * 4096;
        if (array.kind != 3 || array.value % number->value || each > 64 || value > room / (each ? each : 1))
            continue;
        put_number(file, array.value_at, each * value, 8);
        if (each * value < array.value) /* gaps are 0 */
            memset(file->data + array.offset + each * value, 0, array.value - each * value);
    }
}

/* Field `which` of those that can be changed. */
static file_field choose_field(const bytes *file, uint32_t which)
{
    const uint32_t n = field_count(file);
    uint64_t at = directory_at(file) + 8;
    file_field chosen = {0}, field;
    for (uint32_t i = 0, skipped = 0; i < n; ++i, chosen = field.kind != 2 ? field : chosen) {
        field = field_at(file, &at);
        skipped += field.kind == 2;
        if (field.kind != 2 && i - skipped == which % (n - 2)) /* there are two texts */
            return field;
    }
    return chosen;
}

static void change_file(bytes *file, const uint8_t script[4])
{
    const file_field field = choose_field(file, script[1]);
    const uint64_t value = odd_value(field.value, script[3]);
    if (field.kind == 3)
        change_word(file, &field, script[0], script[2], script[3]);
    else if (script[0] & 4)
        change_size(file, &field, value);
    else
        put_number(file, field.value_at, script[0] & 2 ? script[2] : value, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    char spec[KR_SPEC_NBYTES];
    if (nbytes < 4)
        return 0;
    kr_rng rng = {(uint64_t)data[0] << 8 | data[1]};
    kr_random_spec(&rng, spec);
    const kr_type type = types[data[2] % TYPES];
    bytes file = make_file(spec, type, data[3] % 3);
    if (!file.data)
        return 0;
    for (size_t at = 4; at + 4 <= nbytes; at += 4)
        change_file(&file, data + at);
    mend(&file);
    load_and_use(&file, type);
    free(file.data);
    return 0;
}

#ifndef KR_LIBFUZZER

/* ---- Every number and every word ---------------------------------------------------------------- */

static const struct {
    const char *spec;
    kr_type type;
} swept[] = {
    {"array:layout=aos", KR_U64},
    {"eytzinger:k=2,stop=hit", KR_U32},
    {"pivot:k=3", KR_F32},
    {"btree:node=8", KR_U64},
    {"dense", KR_U8},
    {"dense:step=1,spread=4096", KR_U8},
    {"dense", KR_U32},
    {"hash", KR_U32},
    {"hash:filter=off,probing=double,load=0.95", KR_U64},
    {"chain:occupancy=2", KR_U32},
    {"rx:order=row,answer=rays,range=anyhit,dedupe=off", KR_U64},
    {"rx:mode=extended", KR_U8},
    {"cgrx:bucket=4,layout=padded", KR_U64},
    {"cgrx:updates=on,node=2,rebuild=never", KR_U32},
    {"cgrx:updates=on,node=3,apply=split,filter=4,rebuild=never", KR_U64},
};

/* New values, by odd_value. */
static const uint8_t hows[] = {0x00, 0x20, 0x30, 0x40, 0x80, 0x93, 0xB0};

static void sweep_words(const bytes *file, const file_field *array, kr_type type)
{
    for (uint64_t at = array->offset; at + 4 <= array->offset + array->value; at += 4)
        for (size_t how = 0; how < sizeof hows; ++how) {
            bytes copy = {malloc(file->n), file->n};
            memcpy(copy.data, file->data, file->n);
            put_number(&copy, at, odd_value(number_at(file, at, 4), hows[how]), 4);
            mend(&copy);
            load_and_use(&copy, type);
            free(copy.data);
        }
}

/* No search reads more for them, but validate compares them with the keys. `dense` counts its keys from the
 * lowest, so any would do. */
static int is_end(const char *spec, const file_field *field)
{
    static const char lowest[] = "kind.lowest", highest[] = "kind.highest";
    if (strncmp(spec, "dense", strlen("dense")) == 0)
        return 0;
    return (field->name_nbytes == strlen(lowest) && !memcmp(field->name, lowest, strlen(lowest))) ||
           (field->name_nbytes == strlen(highest) && !memcmp(field->name, highest, strlen(highest)));
}

static void sweep_number(const char *spec, const bytes *file, const file_field *number, kr_type type)
{
    for (int how = 0; how < 512; how += 16) {
        bytes copy = {malloc(file->n), file->n};
        memcpy(copy.data, file->data, file->n);
        if (how < 256)
            put_number(&copy, number->value_at, odd_value(number->value, (uint8_t)how), 8);
        else
            change_size(&copy, number, odd_value(number->value, (uint8_t)how));
        mend(&copy);
        const uint64_t loaded = done.loaded;
        load_and_use(&copy, type);
        require(loaded == done.loaded || !is_end(spec, number) || !memcmp(copy.data, file->data, file->n),
                "wrong ends are refused", "loaded");
        free(copy.data);
    }
}

static void sweep(const char *spec, kr_type type)
{
    const bytes file = make_file(spec, type, 1);
    if (!file.data)
        return;
    uint64_t at = directory_at(&file) + 8;
    for (uint32_t i = 0; i < field_count(&file); ++i) {
        const file_field field = field_at(&file, &at);
        if (field.kind == 1)
            sweep_number(spec, &file, &field, type);
        if (field.kind == 3)
            sweep_words(&file, &field, type);
    }
    free(file.data);
}

/* ---- Random scripts ----------------------------------------------------------------------------- */

enum { SEEDS = 600, SCRIPT = 4 + 4 * 4, RUNS = 6000 };

int main(int argc, char **argv)
{
    static char scripts[SEEDS][SCRIPT];
    static struct kr_fuzz_seed seeds[SEEDS];
    kr_rng rng = {36};
    for (uint32_t i = 0; i < SEEDS; ++i) {
        for (uint32_t j = 0; j < SCRIPT; ++j)
            scripts[i][j] = (char)kr_rng_next(&rng);
        seeds[i] = (struct kr_fuzz_seed){scripts[i], 8 + i % 4 * 4};
    }
    for (size_t i = 0; argc == 1 && i < sizeof swept / sizeof *swept; ++i)
        sweep(swept[i].spec, swept[i].type);
    const int failed = kr_fuzz_main(argc, argv, seeds, SEEDS, RUNS);
    printf("%llu files: %llu were refused, %llu loaded\n", (unsigned long long)done.saved,
           (unsigned long long)done.refused, (unsigned long long)done.loaded);
    kr_device_close(open_device());
    if (done.saved)
        return failed;
    printf("skipped: no kind of this build runs on this machine\n");
    return 77;
}
#endif
