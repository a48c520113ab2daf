/* A kind: a name that a spec begins with, its options, and what it can do. What else a kind is depends on
 * what it answers: kinds of indexes have a family (kinds/family.h). */
#ifndef KEYRAY_KINDS_KIND_H
#define KEYRAY_KINDS_KIND_H

#include "kinds/spec.h"

struct kr_family;

typedef struct kr_kind {
    const char *name;
    const char *summary;   /* one line */
    const char *source;    /* paper and section */
    uint32_t capabilities; /* KR_CAN_* */
    uint32_t n_options;
    const kr_option *options; /* its own: see kr_spec_option_at */
    /* Optional: refuses combinations of options, and gives those that were not given a value that goes with
     * the others. What it leaves is printed with every option, and must then be accepted as if given. */
    kr_status (*settle)(kr_spec *spec, kr_error *err);
    const struct kr_family *family;
    /* Where the kind alone lacks KR_CAN_UPDATE: the spec that has it, for the text of errors. */
    const char *updates_with;
} kr_kind;

/* Kinds in the order of kinds.def; NULL past the last. */
const kr_kind *kr_kind_at(uint32_t ordinal);

/* KR_ERR_UNSUPPORTED where the kind lacks a capability (one KR_CAN_*); the text names the kinds that have it.
 */
kr_status kr_kind_check(const kr_kind *kind, uint32_t capability, kr_error *err);

#endif
