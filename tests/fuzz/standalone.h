/* A main for a fuzz target built without libFuzzer (with it, define KR_LIBFUZZER). With files as arguments it
 * runs those; without, it runs the target's own seeds and a fixed number of mutations of them, so that the
 * target is a test, too. */
#ifndef KEYRAY_TESTS_FUZZ_STANDALONE_H
#define KEYRAY_TESTS_FUZZ_STANDALONE_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

#ifndef KR_LIBFUZZER
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kr_fuzz_seed {
    const char *data;
    size_t nbytes;
};
#define KR_SEED(text)         \
    {                         \
        text, sizeof text - 1 \
    }

/* Runs a copy of its own size, so that a read past its end is seen. */
static inline void run_copy(const void *data, size_t nbytes)
{
    uint8_t *copy = malloc(nbytes ? nbytes : 1);
    if (!copy)
        abort();
    memcpy(copy, data, nbytes);
    LLVMFuzzerTestOneInput(copy, nbytes);
    free(copy);
}

static inline int run_file(const char *path)
{
    enum { MOST = 1 << 20 };
    FILE *in = fopen(path, "rb");
    char *data = malloc(MOST);
    if (!in || !data) {
        perror(path);
        return 1;
    }
    size_t nbytes = fread(data, 1, MOST, in);
    fclose(in);
    run_copy(data, nbytes);
    free(data);
    return 0;
}

static inline uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Overwrites, cuts out or doubles a few bytes. */
static inline size_t mutate(uint8_t *data, size_t nbytes, size_t room, uint64_t *state)
{
    for (uint64_t n = 1 + next_random(state) % 4; n > 0 && nbytes > 1; n--) {
        size_t at = next_random(state) % nbytes, span = 1 + next_random(state) % 8;
        span = span < nbytes - at ? span : nbytes - at;
        switch (next_random(state) % 4) {
        case 0: data[at] = (uint8_t)next_random(state); break;
        case 1: data[at] = (uint8_t) "\n\r\"',|:.-+e0 9\0\xff"[next_random(state) % 16]; break;
        case 2:
            memmove(data + at, data + at + span, nbytes - at - span);
            nbytes -= span;
            break;
        default:
            span = span < room - nbytes ? span : room - nbytes;
            memmove(data + at + span, data + at, nbytes - at);
            nbytes += span;
        }
    }
    return nbytes;
}

static inline int kr_fuzz_main(int argc, char **argv, const struct kr_fuzz_seed *seeds, size_t n_seeds,
                               int runs)
{
    int failed = 0;
    for (int i = 1; i < argc; i++)
        failed += run_file(argv[i]);
    if (argc > 1)
        return failed != 0;
    uint64_t state = 42;
    for (int run = 0; run < runs; run++) {
        uint8_t data[1024];
        const struct kr_fuzz_seed *seed = &seeds[(size_t)run % n_seeds];
        memcpy(data, seed->data, seed->nbytes);
        size_t nbytes =
            (size_t)run < n_seeds ? seed->nbytes : mutate(data, seed->nbytes, sizeof data, &state);
        run_copy(data, nbytes);
    }
    return 0;
}
#endif

#endif
