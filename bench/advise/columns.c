/* Eight columns of different shape, which no rule of keyray was made from. */
#include "columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014. */
uint64_t column_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static void random_u32(void *to, uint64_t n, uint64_t *state)
{
    uint32_t *out = to;
    for (uint64_t i = 0; i < n; ++i)
        out[i] = (uint32_t)column_random(state);
}

/* 0, step, 2 step, ... in no order. */
static void shuffled_u64(uint64_t *out, uint64_t n, uint64_t step, uint64_t *state)
{
    for (uint64_t i = 0; i < n; ++i)
        out[i] = i * step + UINT64_C(1000000000000);
    for (uint64_t i = n; i > 1; --i) {
        const uint64_t at = column_random(state) % i, kept = out[i - 1];
        out[i - 1] = out[at];
        out[at] = kept;
    }
}

static void dense_u64(void *to, uint64_t n, uint64_t *state)
{
    shuffled_u64(to, n, 1, state);
}

/* Each value is a key with a probability of a fourth, so that no step divides them all. */
static void one_in_4(void *to, uint64_t n, uint64_t *state)
{
    uint64_t *out = to, value = 0;
    shuffled_u64(out, n, 1, state);
    uint64_t *gaps = malloc(n * sizeof *gaps);
    for (uint64_t i = 0; gaps && i < n; ++i)
        gaps[i] = value += 1 + column_random(state) % 7;
    for (uint64_t i = 0; gaps && i < n; ++i)
        out[i] = gaps[out[i] - UINT64_C(1000000000000)];
    free(gaps);
}

/* Microseconds that ascend by about a second, some at the same time. */
static void sorted_times(void *to, uint64_t n, uint64_t *state)
{
    int64_t *out = to, time = INT64_C(1700000000000000);
    for (uint64_t i = 0; i < n; ++i)
        out[i] = time += column_random(state) % 8 ? (int64_t)(column_random(state) % 2000000) : 0;
}

/* The inverse of a uniform number: the r-th value comes about n / r^2 times as often. */
static void zipf_u32(void *to, uint64_t n, uint64_t *state)
{
    uint32_t *out = to;
    for (uint64_t i = 0; i < n; ++i) {
        const double u = (double)(column_random(state) >> 11) / 9007199254740992.0;
        const double rank = 1 / (u + 1.0 / (double)(n / 4 + 1));
        out[i] = (uint32_t)rank * 2654435761u;
    }
}

static void u8_codes(void *to, uint64_t n, uint64_t *state)
{
    uint8_t *out = to;
    for (uint64_t i = 0; i < n; ++i)
        out[i] = (uint8_t)(column_random(state) % 200);
}

/* Clusters of 64 values, far from each other, below zero and above. */
static void clusters_i64(void *to, uint64_t n, uint64_t *state)
{
    int64_t *out = to;
    for (uint64_t i = 0; i < n; ++i) {
        uint64_t cluster = column_random(state) % (n / 64 + 1);
        out[i] =
            (int64_t)(column_random(&cluster) & ~UINT64_C(0xFFFF)) + (int64_t)(column_random(state) % 256);
    }
}

static void hex_texts(column *c, uint64_t n, uint64_t *state)
{
    enum { LENGTH = 16 };
    int64_t *offsets = malloc((n + 1) * sizeof *offsets);
    char *bytes = malloc(n * LENGTH + 1);
    for (uint64_t i = 0; offsets && bytes && i <= n; ++i) {
        offsets[i] = (int64_t)(i * LENGTH);
        if (i < n)
            snprintf(bytes + i * LENGTH, LENGTH + 1, "%016llx", (unsigned long long)column_random(state));
    }
    c->data = offsets;
    c->bytes = bytes;
    c->view = (kr_column){.type = KR_LARGE_STRING,
                          .count = n,
                          .data = offsets,
                          .reserved_words = {(uintptr_t)bytes, n * LENGTH}};
}

static const struct shape {
    const char *name;
    kr_type type;
    void (*fill)(void *to, uint64_t n, uint64_t *state); /* NULL: texts */
} shapes[COLUMNS] = {
    {"u32 random", KR_U32, random_u32},         {"u64 dense, in no order", KR_U64, dense_u64},
    {"u64, one in 4 values", KR_U64, one_in_4}, {"times, ascending", KR_TIMESTAMP64, sorted_times},
    {"u32 Zipf, repeated", KR_U32, zipf_u32},   {"texts, 16 hex digits", KR_LARGE_STRING, NULL},
    {"u8, 200 codes", KR_U8, u8_codes},         {"i64, sparse clusters", KR_I64, clusters_i64},
};

int column_make(column *c, uint32_t shape, uint64_t n, uint64_t seed)
{
    const struct shape *s = &shapes[shape];
    uint64_t state = seed * 1000 + shape;
    *c = (column){.name = s->name};
    if (!s->fill) {
        hex_texts(c, n, &state);
        return !c->data || !c->bytes;
    }
    c->data = malloc(n * kr_type_nbytes(s->type));
    if (!c->data)
        return 1;
    s->fill(c->data, n, &state);
    c->view = (kr_column){.type = s->type, .count = n, .data = c->data};
    return 0;
}

/* Keys of random rows. */
int column_probes(const column *keys, uint64_t n, column *probes)
{
    uint64_t state = 77;
    const uint64_t nbytes = keys->bytes ? 8 : kr_type_nbytes(keys->view.type);
    *probes = (column){.name = keys->name, .view = keys->view};
    probes->data = malloc((n + 1) * nbytes);
    probes->bytes = keys->bytes ? malloc(n * 16) : NULL;
    if (!probes->data || (keys->bytes && !probes->bytes))
        return 1;
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t row = column_random(&state) % keys->view.count;
        if (keys->bytes)
            memcpy(probes->bytes + i * 16, keys->bytes + row * 16, 16);
        else
            memcpy((char *)probes->data + i * nbytes, (const char *)keys->data + row * nbytes, nbytes);
    }
    for (uint64_t i = 0; keys->bytes && i <= n; ++i)
        ((int64_t *)probes->data)[i] = (int64_t)(i * 16);
    probes->view.count = n;
    probes->view.data = probes->data;
    if (keys->bytes) {
        probes->view.reserved_words[0] = (uintptr_t)probes->bytes;
        probes->view.reserved_words[1] = n * 16;
    }
    return 0;
}

void column_free(column *c)
{
    free(c->data);
    free(c->bytes);
    *c = (column){.name = NULL};
}
