/* Spec strings: "array:layout=aos,probes=sorted" parsed against the option tables of the kinds. */
#ifndef KEYRAY_INDEX_KINDS_SPEC_H
#define KEYRAY_INDEX_KINDS_SPEC_H

#include "index/kinds/option.h"

enum { KR_SPEC_OPTIONS = 24, KR_SPEC_TEXT_NBYTES = 240 };

/* The options that every kind has; they are applied outside the families. */
enum { KR_COMMON_PROBES, KR_COMMON_COUNT };
enum { KR_PROBES_AS_IS, KR_PROBES_SORTED, KR_PROBES_PARTITIONED, KR_PROBES_AUTO };
extern const kr_option kr_common_options[KR_COMMON_COUNT];

typedef struct kr_spec {
    const struct kr_kind *kind;
    int64_t options[KR_SPEC_OPTIONS]; /* the kind's own, by position in its table */
    int64_t common[KR_COMMON_COUNT];
    uint32_t given;                 /* bit i: option i of kr_spec_option_at was in the text */
    char text[KR_SPEC_TEXT_NBYTES]; /* the value of the option of form TEXT, unless it is a word */
} kr_spec;

/* The kind's own options, then the common ones; NULL past the last. At most 32. */
const kr_option *kr_spec_option_at(const struct kr_kind *kind, uint32_t position);

/* Calls the kind's settle last. "best" is not a spec: index/kinds/choose.h resolves it first. */
kr_status kr_spec_parse(const char *text, kr_spec *spec, kr_error *err);
/* KR_ERR_SPEC for the name of a kind that this build leaves out (CMake's KEYRAY_KINDS), else KR_OK. */
kr_status kr_spec_fail_left_out(kr_text name, kr_error *err);
/* Every option filled in; KR_ERR_LIMIT when it does not fit. */
kr_status kr_spec_format(const kr_spec *spec, char *text, size_t text_nbytes, kr_error *err);
/* Without the options that the text does not need to mean the same. */
kr_status kr_spec_format_short(const kr_spec *spec, char *text, size_t text_nbytes, kr_error *err);

/* ---- For the settle of kinds ----------------------------------------------------------------- */

/* Options are numbered as by kr_spec_option_at. */
static inline int kr_spec_gives(const kr_spec *spec, uint32_t option)
{
    return (int)(spec->given >> option & 1);
}

/* Requires a value of an option: another value is refused if given, and replaced if not. `why` says what to
 * do. */
kr_status kr_spec_require(kr_spec *spec, uint32_t option, int64_t value, const char *why, kr_error *err);

/* What a preset sets. A settled spec names the preset and all that it has set, so it means the same when it
 * is read again. */
typedef struct kr_preset_value {
    int64_t preset;
    uint32_t option;
    int64_t value;
} kr_preset_value;

/* The text of an option `preset`. */
#define KR_PRESET_HELP(presets) \
    "which values the options have that are left out. none: those listed here; " presets

/* Sets the values of the preset that option `preset` names, but for options that are given. */
void kr_spec_settle_preset(kr_spec *spec, uint32_t preset, const kr_preset_value *values, uint32_t n);

#endif
