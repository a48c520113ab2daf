/* What the files of this room share: candidates under trial, what is built and asked of them, the plan. */
#ifndef KEYRAY_ADVISE_PLAN_H
#define KEYRAY_ADVISE_PLAN_H

#include "base/util/error.h"

/* ---- Candidates ---------------------------------------------------------------------------- */

enum { KR_ADVISE_TRIALS_MOST = 48, KR_ADVISE_SLICES = 64 };

/* What all candidates must have in common. */
typedef struct kr_advise_answers {
    uint64_t found, hash; /* rows that match; a hash of all answers in their order */
} kr_advise_answers;

/* One candidate. Seconds are of `rows` rows. */
typedef struct kr_advise_trial {
    char spec[KR_SPEC_NBYTES];
    int may_refuse;        /* 1: some columns are refused, so a sample does not tell whether all rows are */
    int is_unsure;         /* 1: nor did the time suffice to see */
    kr_advice_state state; /* 0: it goes on to the next round */
    kr_status status;
    char note[512];
    uint64_t rows; /* 0: not measured yet */
    double build, update;
    /* A pass is cut into slices, the same ones in each, and the least time of each slice counts: other work
     * may hold up every pass, but hardly always the same slice. */
    double least[2][KR_ADVISE_SLICES];
    double lookup[2]; /* seconds of one: points, ranges; or a scan, 0 */
    double cost;      /* of one lookup with its share of updates */
    uint64_t before_rows;
    double before_cost; /* of the round before; 0: none */
    uint64_t footprint_nbytes, peak_nbytes;
    double whole_build; /* of all rows, where fewer were measured; 0: it was not built */
    uint64_t whole_footprint_nbytes;
    void *object; /* NULL: it is not built */
    double pilot; /* seconds of a pass, as the pilot has them */
    uint32_t passes;
    kr_advise_answers answers, changed; /* before updates, and after */
} kr_advise_trial;

/* ---- What is built and asked --------------------------------------------------------------- */

typedef struct kr_advise_subject kr_advise_subject;

/* A column or a table with the lookups that are asked of it. Each may fail. */
typedef struct kr_advise_ops {
    /* Makes the rows of the next round, about *rows of them, and their lookups; *rows := how many it has. */
    kr_status (*prepare)(kr_advise_subject *s, uint64_t *rows, kr_error *err);
    /* Of the rows that are prepared; or, with `is_whole`, of all. */
    kr_status (*build)(kr_advise_subject *s, int is_whole, kr_advise_trial *t, kr_error *err);
    void (*destroy)(kr_advise_trial *t);
    /* Makes what needs a first object to be made, once in a round. */
    kr_status (*settle)(kr_advise_subject *s, kr_advise_trial *t, kr_error *err);
    /* t->lookup becomes about the seconds of one, found with few lookups. */
    kr_status (*pilot)(kr_advise_subject *s, kr_advise_trial *t, kr_error *err);
    kr_status (*verify)(kr_advise_subject *s, kr_advise_trial *t, kr_advise_answers *answers, kr_error *err);
    /* All lookups once: t->lookup becomes the least of the seconds so far. */
    kr_status (*pass)(kr_advise_subject *s, kr_advise_trial *t, kr_error *err);
    /* All updates, once; t->update becomes the seconds of one. NULL: there are none. */
    kr_status (*update)(kr_advise_subject *s, kr_advise_trial *t, kr_error *err);
    /* 1: it is known to take all rows, though it was not built of them. NULL: nothing may_refuse. */
    int (*takes_all)(kr_advise_subject *s, const kr_advise_trial *t);
} kr_advise_ops;

struct kr_advise_subject {
    const kr_advise_ops *ops;
    kr_device *device;
    int is_host;    /* the device is a CPU, whose memory is that of the caller */
    uint64_t rows;  /* that are not NULL */
    int is_partial; /* not all are at hand */
    uint32_t operations;
    uint64_t lookups[2];      /* points, ranges or scans of a pass over all rows */
    uint64_t updated_rows;    /* of an update; 0: none is asked for */
    double updates_of_lookup; /* calls of update for each lookup */
};

/* ---- The plan ------------------------------------------------------------------------------ */

typedef struct kr_advise_plan {
    kr_advise_subject *subject;
    kr_advise_trial *trials;
    uint32_t n;
    double begin, end; /* on kr_advise_now's clock */
    uint64_t cap_nbytes;
    const kr_progress *progress;
    double reserve; /* seconds before the end that the last round leaves */
    kr_error first; /* of a candidate that failed */
    /* The round. */
    uint64_t rows;
    int is_last, is_settled;
    const kr_advise_trial *reference; /* whose answers the others are compared with; NULL: none yet */
    double best_pilot;
    int is_confirmed; /* the best was built of all rows, if fewer were measured */
} kr_advise_plan;

/* Measures all trials as far as the time allows, and orders them, the best first. */
kr_status kr_advise_run(kr_advise_plan *p, kr_error *err);

/* Fails if the two answered differently. */
kr_status kr_advise_compare(const kr_advise_trial *a, const kr_advise_trial *b, const kr_advise_answers *of_a,
                            const kr_advise_answers *of_b, kr_error *err);

/* Fills trials with the specs of the kinds that have all `capabilities`; returns how many. */
uint32_t kr_advise_specs(uint32_t capabilities, kr_advise_trial trials[KR_ADVISE_TRIALS_MOST]);

/* Of a sample, a spec of the same kind that keeps much less and is nearly as fast goes before the best: with
 * all rows the larger one misses more often. The more rows are left, the slower it may be. */
void kr_advise_prefer_smaller(kr_advise_plan *p);

/* Takes the slices of one more pass into t->least[which], before t->passes counts it; returns the sum of all.
 */
double kr_advise_least(kr_advise_trial *t, int which, const double slices[KR_ADVISE_SLICES]);

double kr_advise_now(void);
/* 1: the device is a CPU; -1: it cannot be asked. */
int kr_advise_is_host(kr_device *device, kr_error *err);

/* ---- Options and results ------------------------------------------------------------------- */

/* Reads options, NULL for defaults, and checks what all calls share. */
kr_status kr_advise_read_plain(const kr_advise_options *options, kr_advise_options *read, kr_error *err);
/* The same for indexes: checks and completes the rest. */
kr_status kr_advise_read(const kr_advise_options *options, int is_host, kr_advise_options *read,
                         kr_error *err);

struct kr_advice {
    kr_advice_info info;
    uint32_t n;
    kr_advice_candidate candidates[KR_ADVISE_TRIALS_MOST];
    kr_advise_trial trials[KR_ADVISE_TRIALS_MOST]; /* of the plan */
};

/* What is the same for every candidate. */
typedef struct kr_advise_facts {
    uint64_t batch;
    double hit_percent, range_hits, scan_seconds;
    char sampled[160]; /* how a sample was taken */
} kr_advise_facts;

/* Lookups of a pass: fewer where the time is short. */
uint64_t kr_advise_standard(int is_host, double seconds);

/* How often `times` is twice as much: a logarithm that is straight between powers of two. */
double kr_advise_doublings(double times);

/* Makes the advice of a plan that ran. */
void kr_advise_conclude(const kr_advise_plan *p, const kr_advise_facts *facts, kr_advice *advice);

/* ---- Values -------------------------------------------------------------------------------- */

/* Values as numbers that are ordered as the values are, and back. */
uint64_t kr_advise_code(kr_type type, const void *values, uint64_t at);
void kr_advise_value(kr_type type, uint64_t code, void *values, uint64_t at);
/* The largest code of a type. */
uint64_t kr_advise_code_most(kr_type type);

/* Random numbers, the same ones in each call. */
uint64_t kr_advise_random(uint64_t *state);
/* Below n. */
uint64_t kr_advise_below(uint64_t *state, uint64_t n);
/* Mixes a number at a place into a hash of all. */
uint64_t kr_advise_hash(uint64_t place, uint64_t number);

/* ---- Columns in host memory ---------------------------------------------------------------- */

/* A column whose values the host reads. */
typedef struct kr_advise_column {
    kr_column view;
    void *data; /* its own memory, or NULL: borrowed */
    uint8_t *validity;
    uint64_t valid;   /* rows that are not NULL */
    uint64_t *sorted; /* codes of some rows, ascending; of all if n_sorted is `valid` */
    uint64_t n_sorted;
    uint64_t lowest, highest; /* codes of an interval that has all rows, of a sample */
} kr_advise_column;

int kr_advise_is_text(kr_type type);
/* Borrows, or copies where the host may not reach it; texts become codes of `texts`, which is made if it is
 * NULL. */
kr_status kr_advise_take(kr_device *device, int is_host, const kr_column *from, const char *what,
                         kr_texts **texts, kr_advise_column *to, kr_error *err);
void kr_advise_drop(kr_advise_column *c);
int kr_advise_is_valid(const kr_column *view, uint64_t row);
/* Counts rows that are not NULL, and sorts the codes of some. */
kr_status kr_advise_sort(kr_advise_column *c, kr_error *err);
/* About `rows` rows of `from` that are not NULL: those within an interval of values, in their order. */
kr_status kr_advise_sample(const kr_advise_column *from, uint64_t rows, kr_advise_column *to, kr_error *err);
/* Rows that are not NULL and whose codes lie within [lowest, highest], at most `most`, into new memory. */
kr_status kr_advise_within(const kr_advise_column *from, uint64_t lowest, uint64_t highest, uint64_t most,
                           kr_advise_column *to, kr_error *err);

#endif
