/* Reports: one description, printed as aligned text or as one JSON object. */
#ifndef KEYRAY_TERMINAL_OUTPUT_H
#define KEYRAY_TERMINAL_OUTPUT_H

#include "facts.h"
#include "options.h"

#include <keyray/keyray.h>

#include <stdio.h>

typedef struct output_options {
    uint32_t json, quiet;
} output_options;

/* The options of output_options, which differ in what --quiet leaves: of commands that print a list and
 * nothing else, a report, answers, answers of which some are one value, and a spec. */
extern const option_row output_list_rows[], output_rows[], output_answers_rows[], output_value_rows[],
    output_spec_rows[];

typedef struct output {
    FILE *to;
    uint32_t json;
    uint32_t depth;
    uint32_t members[8]; /* written so far, per depth */
} output;

/* Opens the outermost object; output_end closes it. */
output output_begin_report(FILE *to, uint32_t json);

/* `key` is written as it is in JSON, with spaces for '_' in text. NULL: an element of a list. */
void output_begin(output *out, const char *key, char bracket); /* '{' or '[' */
void output_end(output *out, char bracket);                    /* '}' or ']' */
void output_text(output *out, const char *key, const char *text);
void output_number(output *out, const char *key, uint64_t number);
/* By a name of the caller's data, such as that of a column, which is written as it is. */
void output_number_of(output *out, const char *name, uint64_t number);
void output_text_of(output *out, const char *name, const char *text);
void output_signed(output *out, const char *key, int64_t number);
/* A sum of integers, see wide.h. */
void output_wide(output *out, const char *key, kr_type type, const uint64_t *words);
/* A number; a date or a time as text. */
void output_value(output *out, const char *key, kr_type type, kr_unit unit, const void *value);
/* The value alone, on a line: what --quiet leaves of an answer that is one value. */
void output_value_alone(FILE *to, kr_type type, kr_unit unit, const void *value);
/* There is no value. */
void output_null(output *out, const char *key);
void output_bytes(output *out, const char *key, uint64_t nbytes);
void output_real(output *out, const char *key, double number);
void output_seconds(output *out, const char *key, double seconds);
void output_truth(output *out, const char *key, int truth);

/* Every option in JSON; in text those that differ from the defaults. */
void output_spec(output *out, const char *key, const char *spec);

/* An object of the phases' seconds; in text nothing if there are none. */
void output_phases(output *out, const char *key, const facts *phases);

/* A counter by its name, whose spaces are '_' in JSON. */
void output_counter(output *out, const char *name, uint64_t number);
/* The counters of an index, into the object that is open. */
void output_counter_fields(output *out, const index_facts *index);
/* The same as an object "counters"; nothing for kinds without. */
void output_counters(output *out, const index_facts *index);

/* Which side of a join is indexed, and the costs of the rule that decides it; nothing else of *info. */
void output_indexed(output *out, const kr_join_info *info);

/* "1.5 GiB". */
const char *output_size(char text[32], uint64_t nbytes);

#endif
