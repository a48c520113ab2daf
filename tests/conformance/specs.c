#include "specs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kr_add_spec(kr_spec_list *list, const char *spec, int brief)
{
    if (list->n == KR_MAX_SPECS || strlen(spec) >= KR_SPEC_NBYTES) {
        fprintf(stderr, "spec number %u is one too many, or too long: %s\n", list->n, spec);
        exit(1);
    }
    list->at[list->n].is_brief = brief != 0;
    strcpy(list->at[list->n++].text, spec);
}

/* Of three bit counts: some hold any key, some leave an axis short or empty, and some fit small types, whose
 * keys then fill many rows and planes. */
static const char *const triples[] = {"22:21:21", "16:16:0", "9:23:0", "3:2:3", "2:1:13"};
static const char *const pairs[] = {"0:0", "3:7"};

static int try_text(const kr_option *option, const char *const *values, uint32_t n_values, uint32_t n,
                    char *text, size_t text_nbytes)
{
    if (n < n_values)
        snprintf(text, text_nbytes, "%s=%s", option->name, values[n]);
    return n < n_values;
}

/* The smallest value, one in between with a fraction if there is room, and each word except the default. */
static int try_decimal(const kr_option *option, uint32_t n, char *text, size_t text_nbytes)
{
    const int64_t most = option->maximum < 4 * option->minimum ? option->maximum : 4 * option->minimum;
    const int64_t numbers[] = {option->minimum, option->minimum + (most - option->minimum) / 2};
    for (uint32_t i = 0; i < 2; ++i)
        if (numbers[i] != option->standard && n-- == 0) {
            snprintf(text, text_nbytes, "%s=%lld.%03lld", option->name, (long long)(numbers[i] / 1000),
                     (long long)(numbers[i] % 1000));
            return 1;
        }
    const char *at = option->choices ? option->choices : "";
    for (int64_t word = -1; *at; --word) {
        const int length = (int)strcspn(at, "|");
        if (word != option->standard && n-- == 0) {
            snprintf(text, text_nbytes, "%s=%.*s", option->name, length, at);
            return 1;
        }
        at += length + (at[length] == '|');
    }
    return 0;
}

/* Writes "name=value" of the n-th value of an option worth trying besides its default; 0 past the last. The
 * largest number comes last and is left out if `few`, as it takes long and shows little. */
static int try_setting(const kr_option *option, uint32_t n, int few, char *text, size_t text_nbytes)
{
    const int64_t numbers[] = {option->minimum, option->minimum + 3, option->maximum};
    if (option->form == KR_OPTION_TRIPLE)
        return try_text(option, triples, sizeof triples / sizeof triples[0], n, text, text_nbytes);
    if (option->form == KR_OPTION_PAIR)
        return try_text(option, pairs, sizeof pairs / sizeof pairs[0], n, text, text_nbytes);
    if (option->form == KR_OPTION_DECIMAL)
        return try_decimal(option, n, text, text_nbytes);
    if (option->form == KR_OPTION_INTEGER) {
        for (uint32_t i = 0; i < (few ? 2 : 3); ++i) {
            const int repeated = i == 2 && numbers[1] == numbers[2];
            if (numbers[i] == option->standard || numbers[i] > option->maximum || repeated || n--)
                continue;
            snprintf(text, text_nbytes, "%s=%lld", option->name, (long long)numbers[i]);
            return 1;
        }
        return 0;
    }
    const char *at = option->choices;
    for (int64_t i = 0; *at; ++i) {
        const int length = (int)strcspn(at, "|");
        if (i != option->standard && n-- == 0) {
            snprintf(text, text_nbytes, "%s=%.*s", option->name, length, at);
            return 1;
        }
        at += length + (at[length] == '|');
    }
    return 0;
}

/* Options that are left out of pairs, since they change what is kept but not how answers are found; and
 * further specs, separated by `|`, that pairs do not cover. */
static const struct {
    const char *kind, *alone, *besides;
} habits[] = {
    {"array", "schedule threads per_thread group pin reorder shared",
     "layout=aos,reorder=double,per_thread=4|layout=aos,pin=steps|schedule=static,per_thread=8|"
     "layout=aos,pin=full,schedule=static,threads=1024|threads=1024,per_thread=8,reorder=lookup|"
     "pin=full,reorder=double,per_thread=4|pin=steps,schedule=static,reorder=double,threads=32,per_thread=32|"
     "k=3,group=k-1|k=5,group=k-1,reorder=double,per_thread=4|k=9,group=k-1,layout=aos|"
     "k=17,group=k-1,schedule=static,per_thread=3|k=33,group=k-1,threads=64,reorder=lookup|"
     "reorder=sort,threads=1024,per_thread=4|reorder=sort-double,threads=128,per_thread=16|"
     "pin=full,reorder=sort-double,threads=512,per_thread=4|layout=aos,reorder=sort,threads=32,per_thread=3|"
     "schedule=static,pin=steps,reorder=sort,per_thread=7|k=5,group=k-1,reorder=sort,per_thread=4|"
     "k=33,group=k-1,reorder=sort-double,threads=64|layout=aos,probes=partitioned|ends=scan,layout=aos|"
     "pin=full,shared=0|pin=steps,shared=0,reorder=sort-double|pin=full,shared=8,reorder=double|"
     "ends=scan,scan_threads=1|ends=scan,k=5,group=k-1|ends=scan,k=33,layout=aos|ends=scan,probes=sorted"},
    {"eytzinger", "schedule threads per_thread shared k",
     "k=3|k=4|k=7|k=16|k=17|k=32|k=2,layout=aos|k=2,pin=full|k=2,pin=steps,reorder=double,per_thread=4|"
     "k=33,layout=aos,pin=full|k=7,pin=steps,schedule=static|k=5,layout=aos,reorder=double,per_thread=8,"
     "schedule=static|k=17,schedule=static,per_thread=32,threads=32,reorder=lookup|k=3,group=k-1,layout=aos|"
     "k=5,group=k-1|k=17,group=k-1,pin=steps|k=33,group=k-1,layout=aos|group=k-1,reorder=double,per_thread="
     "2|k=2,pin=steps,reorder=sort-double,per_thread=8,threads=128|k=17,group=k-1,reorder=sort|layout=aos,"
     "probes=partitioned|k=2,probes=partitioned|k=2,stop=hit|k=9,group=k-1,pin=full,shared=0|k=2,ends=scan|k="
     "9,group=k-1,ends=scan,layout="
     "aos|k=3,ends=scan,scan_threads=1|k=2,ends=scan,layout=aos,probes=sorted|k=33,ends=scan|k=4,ends=scan,"
     "stop=hit|k=5,group=k-1,ends=scan|k=2,stop=hit,probes=sorted|k=3,stop=hit|k=5,"
     "group=k-1,stop=hit,pin=full|k=17,stop=hit,layout=aos|k=33,group=k-1,stop=hit,reorder=sort,per_thread=2|"
     "k=2,pin=steps,stop=hit|k=7,stop=hit,pin=full,schedule=static|k=2,scan=ranks|k=33,scan=ranks|k=7,layout="
     "aos,"
     "scan=ranks,probes=partitioned"},
    {"pivot", "schedule threads per_thread shared k",
     "k=3|k=4|k=7|k=9|k=16|k=32|k=2,levels=1|k=2,levels=2,layout=aos|k=3,levels=1|k=3,levels=2,layout=aos|"
     "k=7,levels=1,layout=aos|k=9,levels=1|k=33,levels=1,layout=aos|levels=1,layout=aos|levels=2|k=33,levels="
     "2|"
     "k=2,pin=full|k=2,pin=steps,reorder=double,per_thread=4|k=9,layout=aos|k=33,layout=aos,pin=full|"
     "k=7,pin=steps,schedule=static|k=4,pin=full,reorder=lookup,levels=1|k=3,group=k-1,layout=aos|"
     "k=5,group=k-1,pin=full|k=9,group=k-1,reorder=double,per_thread=3|"
     "k=9,group=k-1,reorder=sort-double,per_thread=16,threads=128|k=2,layout=aos,reorder=sort,per_thread=2|"
     "k=17,group=k-1,pin=steps,levels=1|"
     "k=33,group=k-1,layout=aos,levels=1|group=k-1,schedule=static,per_thread=32,threads=32,reorder=lookup|"
     "layout=aos,probes=partitioned|k=2,levels=2,probes=partitioned|k=9,ends=scan|k=2,ends=scan,layout=aos|k="
     "9,pin=full,shared=0|"
     "k=9,group=k-1,ends=scan|k=17,group=k-1,ends=scan,layout=aos|k=7,levels=1,ends=scan|k=2,levels=2,ends="
     "scan,"
     "scan_threads=1"},
    {"btree", "preset",
     "node=8,fill=0.5,probes=partitioned|node=8,fill=1,probes=sorted|node=16,fill=1,probes=partitioned|"
     "node=64,fill=0.5|node=64,fill=1,probes=partitioned|preset=paper|preset=paper,fill=1|"
     "fill=1,inner=half,probes=partitioned"},
    {"hash", "seed preset",
     "load=0.5|load=0.95|probing=double|probing=double,group=8,load=0.5,build=insert|group=2,build=insert|"
     "seed=7|filter=off,load=0.95|preset=paper,load=0.5|preset=paper,build=bulk|"
     "filter=off,load=0.5,probes=partitioned"},
    {"chain", "",
     "occupancy=0.5|occupancy=2.0,seed=3|group=32,occupancy=1.5|group=32,occupancy=0.5,probes=partitioned"},
    {"rx", "scale bvh compact update enter outside answer hit preset",
     "update=refit,compact=off,dedupe=off|update=refit,order=row|update=refit,parts=3|update=refit,order=row,"
     "parts=3|"
     "update=refit,mode=naive|update=refit,mode=extended,order=row|update=refit,prim=sphere,order=row|"
     "update=refit,prim=aabb,parts=3|update=refit,range=anyhit|update=refit,bits=3:2:3,order=row|"
     "update=rebuild,order=row,parts=3|update=rebuild,mode=naive,order=row|"
     "bits=9:23:0,max_rays=3|bits=9:23:0,max_rays=3,range=anyhit|bits=9:23:0,max_rays=2,prim=aabb,parts=3|"
     "scale=20:20:20,ray=zero,range_ray=zero|"
     "scale=20:20:20,prim=aabb,ray=offset|scale=0:0:0,range=anyhit,dedupe=off|parts=5,enter=top|"
     "bits=3:2:3,parts=5,enter=top,dedupe=off|bits=3:2:3,parts=7,dedupe=off|bits=9:23:0,parts=5,max_rays=3|"
     "scale=25:25:25,ray=zero,range_ray=zero,range=anyhit|"
     "bits=3:2:3,order=row,parts=5,range=anyhit|bits=3:2:3,dedupe=off,parts=5,range=anyhit,max_rays=2|"
     "bits=3:2:3,prim=sphere,ray=zero,range_ray=zero,max_rays=5|bits=3:2:3,compact=off,order=row,max_rays=1|"
     "preset=paper|preset=thesis|compact=off,parts=3|mode=extended,range=anyhit,dedupe=off,parts=3|mode="
     "naive,ray=zero,range_ray=zero,"
     "parts=3|outside=rays|outside=rays,range=anyhit,parts=3|outside=rays,mode=naive,prim=aabb,bvh=trace|"
     "outside=rays,mode=extended,order=row|outside=rays,bits=3:2:3,parts=5,prim=sphere|"
     "outside=rays,scale=20:20:20,ray=zero,dedupe=off|"
     "preset=paper,parts=3|preset=paper,order=key|preset=paper,bits=3:2:3,max_rays=3|preset=paper,bits=9:23:"
     "0|"
     "preset=paper,mode=naive|preset=paper,mode=extended|preset=paper,prim=sphere|preset=paper,prim=aabb|"
     "preset=paper,update=refit|preset=paper,answer=matches|preset=paper,ray=offset,parts=3,probes=sorted|"
     "preset=paper,ray=zero,range_ray=zero|answer=rays,scale=20:20:20|answer=rays,bits=2:1:13,parts=5|"
     "answer=scan,bits=3:2:3,max_rays=3|answer=scan,update=refit|answer=scan,prim=aabb,parts=3|hit=closest,"
     "dedupe=off,parts=3|"
     "hit=closest,bits=3:2:3,prim=sphere|preset=thesis,bits=3:2:3|preset=thesis,probes=as-is,dedupe=off,"
     "parts=1|"
     "preset=thesis,range=anyhit"},
    {"cgrx", "bucket search layout scale filter bvh compact parts node fill rebuild flip apply answer preset",
     "bits=3:2:3,bucket=2,search=linear|bits=3:2:3,scene=naive,rays=paper|"
     "bits=3:2:3,bucket=3,scene=naive,rays=paper|bits=3:2:3,bucket=3,rays=paper,layout=aos|"
     "bits=3:2:3,bucket=7,scene=naive,layout=padded|bits=3:2:3,bucket=2,scale=off|bits=3:2:3,filter=8,bucket="
     "2|"
     "bits=2:1:13,bucket=3,scene=naive,rays=paper|bits=2:1:13,bucket=7,layout=aos|"
     "bits=9:23:0,bucket=2,scene=naive,rays=paper|bits=16:16:0,bucket=3,scene=naive,compact=off|"
     "bucket=1,scene=naive,layout=aos,search=linear|bucket=65536,rays=paper,layout=padded|"
     "layout=aos,search=linear|layout=padded,search=linear,bucket=3|filter=10,bucket=4,layout=padded|"
     "bits=3:2:3,rays=column,bucket=2|bits=2:1:13,rays=column,bucket=3|bits=9:23:0,rays=short,bucket=2|"
     "updates=on,node=4,bits=3:2:3,rays=column|updates=on,node=4,bits=3:2:3,rays=short,layout=aos|"
     "scale=0:0,scene=naive,rays=paper|scale=25:25,bucket=2|scale=25:25,scene=naive,bucket=1,rays=paper|"
     "scene=naive,bucket=2,compact=off|bucket=2,compact=on,bvh=trace|"
     "updates=on,node=4,bits=3:2:3|updates=on,node=4,bits=3:2:3,scene=naive,rays=paper,rebuild=never|"
     "updates=on,node=2,bits=3:2:3,rays=paper,rebuild=never|updates=on,node=6,bits=3:2:3,rebuild=1.1,filter="
     "8|"
     "updates=on,bits=2:1:13,node=5,fill=0.6,rebuild=1.1|updates=on,bits=9:23:0,node=4,scene=naive,rebuild="
     "never|"
     "updates=on,layout=aos,node=8|updates=on,layout=padded,search=linear,node=6,fill=0.34|"
     "updates=on,filter=8,rebuild=never|updates=on,node=4,fill=1,rebuild=never|updates=on,node=4,rebuild=1.1|"
     "updates=on,node=3,fill=0.05,scene=naive,rays=paper,rebuild=never|updates=on,node=1024,fill=1|"
     "updates=on,scale=off,compact=on,layout=aos,search=linear,node=4|bits=3:2:3,bucket=2,parts=3|"
     "bits=2:1:13,bucket=3,scene=naive,rays=paper,parts=5|bits=3:2:3,rays=column,bucket=2,parts=7,compact="
     "off|"
     "updates=on,node=4,bits=3:2:3,parts=4,rebuild=1.1|"
     "flip=off,bits=3:2:3,bucket=2|flip=off,bits=3:2:3,bucket=3,rays=paper|flip=off,bits=2:1:13,bucket=2,"
     "rays=short|"
     "preset=paper|preset=paper,bits=3:2:3,bucket=3|preset=paper,bits=2:1:13,bucket=2|"
     "preset=paper,scene=naive,bits=3:2:3,bucket=2|preset=paper,flip=off,bits=3:2:3,bucket=2|"
     "preset=paper,answer=matches|answer=scan,layout=padded,search=linear|answer=scan,updates=on,node=4,bits="
     "3:2:3|answer=scan,updates=on,apply=split,node=3,bits=2:1:13|preset=paper,updates=on|preset=paper,"
     "updates=on,node=4,bits=3:2:3|apply=split,updates=on,node=2,bits=3:"
     "2:3|apply=split,updates=on,node=3,rebuild=1.1|apply=split,updates=on,layout=padded,node=6,fill=1,"
     "filter=8"},
};

static const char *habit(const char *kind, int besides)
{
    for (uint32_t i = 0; i < sizeof habits / sizeof habits[0]; ++i)
        if (strcmp(habits[i].kind, kind) == 0)
            return besides ? habits[i].besides : habits[i].alone;
    return "";
}

/* Adds "kind:settings" unless the library refuses it, some of which test_combinations expects. */
static void add_legal(kr_spec_list *list, const char *kind, const char *settings, int brief)
{
    char spec[2 * KR_SPEC_NBYTES], whole[KR_SPEC_NBYTES];
    snprintf(spec, sizeof spec, "%s:%s", kind, settings);
    if (kr_spec_complete(spec, whole, sizeof whole, NULL) == KR_OK)
        kr_add_spec(list, spec, brief);
}

/* The tests of special cases leave out bit counts that hold only some types, and launch options. */
static int is_brief(const kr_option *option, const char *setting)
{
    return kr_option_is_for_gpu(option) ||
           (option->form == KR_OPTION_TRIPLE && strcmp(strchr(setting, '=') + 1, triples[0]) != 0);
}

static void add_singles(kr_spec_list *list, const kr_kind *kind, int few)
{
    const kr_option *option;
    char one[64];
    for (uint32_t i = 0; (option = kr_spec_option_at(kind, i)); ++i)
        for (uint32_t a = 0; try_setting(option, a, few, one, sizeof one); ++a)
            add_legal(list, kind->name, one, is_brief(option, one));
}

static void add_pairs(kr_spec_list *list, const kr_kind *kind)
{
    const char *alone = habit(kind->name, 0);
    char one[64], two[64], both[128];
    for (uint32_t i = 0; i < kind->n_options; ++i)
        for (uint32_t j = i + 1; j < kind->n_options; ++j) {
            if (kr_has_word(alone, kind->options[i].name) || kr_has_word(alone, kind->options[j].name))
                continue;
            for (uint32_t a = 0; try_setting(&kind->options[i], a, 1, one, sizeof one); ++a)
                for (uint32_t b = 0; try_setting(&kind->options[j], b, 1, two, sizeof two); ++b) {
                    snprintf(both, sizeof both, "%s,%s", one, two);
                    add_legal(list, kind->name, both, 1);
                }
        }
}

static void add_besides(kr_spec_list *list, const kr_kind *kind)
{
    char settings[KR_SPEC_NBYTES];
    for (const char *at = habit(kind->name, 1); *at; at += at[0] == '|') {
        const int length = (int)strcspn(at, "|");
        snprintf(settings, sizeof settings, "%.*s", length, at);
        add_legal(list, kind->name, settings, 1);
        at += length;
    }
}

void kr_expand_specs(const kr_settings *settings, kr_spec_list *list)
{
    const kr_kind *kind;
    for (uint32_t i = 0; (kind = kr_kind_at(i)); ++i) {
        if (!kind->family || (settings->kind && strcmp(settings->kind, kind->name) != 0))
            continue; /* kinds of scans make no index */
        kr_add_spec(list, kind->name, 0);
        add_singles(list, kind, settings->reduced);
        if (!settings->reduced)
            add_pairs(list, kind);
        if (!settings->reduced)
            add_besides(list, kind);
    }
}

/* ---- Tests of the strings themselves -------------------------------------------------------- */

static void expect_refusal(kr_suite *suite, const char *spec, const char *must_name)
{
    char text[512];
    kr_error err = {0};
    const kr_status status = kr_spec_complete(spec, text, sizeof text, &err);
    if (kr_test_refused(suite, KR_ERR_SPEC, status, &err, spec) && !strstr(err.text, must_name))
        kr_test_fail(suite, "%s: the error does not name '%s': %s", spec, must_name, err.text);
}

static const char *const wrong_triples[] = {"1",
                                            "1:2",
                                            "1:2:",
                                            ":1:2",
                                            "1::2",
                                            "1:2:3:4",
                                            "1:2:3:",
                                            "1:2:x",
                                            "1:2:99",
                                            "-1:2:3",
                                            "1: 2:3",
                                            "300:1:1",
                                            "1:2:18446744073709551617"};
static const char *const wrong_pairs[] = {"1",    "1:",   ":1",   "1::2",  "1:2:3", "1:2:", "1:x",
                                          "1:99", "-1:2", "1: 2", "300:1", "On",    "on:1"};
static const char *const wrong_decimals[] = {".5",  "1.",    "1.2345", "-1",  "+1",
                                             "1;5", "1.5.5", "0x1",    "1:1", "1000000000"};

static void refuse_texts(kr_suite *suite, const kr_kind *kind, const kr_option *option, const char *named,
                         const char *const *values, uint32_t n)
{
    char spec[KR_SPEC_NBYTES];
    for (uint32_t i = 0; i < n; ++i) {
        snprintf(spec, sizeof spec, "%s:%s=%s", kind->name, option->name, values[i]);
        expect_refusal(suite, spec, named);
    }
}

/* Values that each form of option refuses; the error names a number's bound or a choice's words. */
static void refuse_form(kr_suite *suite, const kr_kind *kind, const kr_option *option)
{
    char most[32], beyond[32];
    const char *const above[] = {beyond};
    const int64_t unit = option->form == KR_OPTION_DECIMAL ? 1000 : 1;
    snprintf(most, sizeof most, "%lld", (long long)(option->maximum / unit));
    snprintf(beyond, sizeof beyond, "%lld", (long long)(option->maximum / unit + 1));
    if (option->form == KR_OPTION_INTEGER || option->form == KR_OPTION_DECIMAL)
        refuse_texts(suite, kind, option, most, above, 1);
    if (option->form == KR_OPTION_TRIPLE)
        refuse_texts(suite, kind, option, most, wrong_triples,
                     sizeof wrong_triples / sizeof wrong_triples[0]);
    if (option->form == KR_OPTION_PAIR)
        refuse_texts(suite, kind, option, most, wrong_pairs, sizeof wrong_pairs / sizeof wrong_pairs[0]);
    if (option->form == KR_OPTION_DECIMAL)
        refuse_texts(suite, kind, option, most, wrong_decimals,
                     sizeof wrong_decimals / sizeof wrong_decimals[0]);
}

static void refuse_values(kr_suite *suite, const kr_kind *kind, const kr_option *option)
{
    static const char *const wrong[] = {"", "what", "-9223372036854775809", "1e3", " 2"};
    char spec[KR_SPEC_NBYTES];
    refuse_texts(suite, kind, option, option->choices ? option->choices : option->name, wrong,
                 option->form == KR_OPTION_TEXT ? 1
                                                : sizeof wrong / sizeof wrong[0]); /* but any text is one */
    refuse_form(suite, kind, option);
    snprintf(spec, sizeof spec, "%s:%s", kind->name, option->name);
    expect_refusal(suite, spec, option->name);
}

static void test_kind(kr_suite *suite, const kr_kind *kind)
{
    char spec[KR_SPEC_NBYTES];
    if (!kr_test_begin(suite, "spec/%s/errors", kind->name))
        return;
    expect_refusal(suite, "no-such-kind", kind->name);
    snprintf(spec, sizeof spec, "%s:no-such-option=1", kind->name);
    for (uint32_t i = 0; kr_spec_option_at(kind, i); ++i)
        expect_refusal(suite, spec, kr_spec_option_at(kind, i)->name);
    for (uint32_t i = 0; kr_spec_option_at(kind, i); ++i)
        refuse_values(suite, kind, kr_spec_option_at(kind, i));
    kr_test_end(suite);
}

/* Combinations of options that make no sense together, and the option that the error tells to change. */
static const struct {
    const char *spec, *must_name;
} excluded[] = {
    {"array:threads=48", "threads"},
    {"array:group=k-1", "group"},
    {"array:group=k-1,k=4", "k=4"},
    {"array:pin=steps,k=5", "pin"},
    {"array:threads=1024,per_thread=9,reorder=double", "per_thread"},
    {"array:reorder=sort,per_thread=17", "per_thread"},
    {"array:reorder=sort-double,threads=1024,per_thread=8", "per_thread"},
    {"array:reorder=sort,probes=partitioned", "reorder"},
    {"array:ends=scan,probes=partitioned", "ends"},
    {"array:reorder=double,shared=2", "shared"},
    {"array:shared=0", "shared"},
    {"eytzinger:shared=8", "pin"},
    {"pivot:shared=8,per_thread=4", "reorder"},
    {"eytzinger:k=4,group=k-1", "group"},
    {"eytzinger:threads=33", "threads"},
    {"pivot:k=4,group=k-1", "group"},
    {"pivot:threads=33", "threads"},
    {"btree:node=32,group=16", "group"},
    {"btree:node=8,inner=half", "inner"},
    {"btree:preset=paper,node=64", "group"},
    {"btree:group=16,probes=partitioned", "group"},
    {"rx:mode=extended,prim=sphere", "prim"},
    {"rx:mode=extended,prim=sphere", "mode"},
    {"rx:mode=extended,ray=offset", "ray"},
    {"rx:mode=extended,range_ray=offset", "range_ray"},
    {"rx:mode=extended,scale=1:1:1", "scale"},
    {"rx:prim=sphere,scale=0:15:25", "scale"},
    {"rx:prim=sphere,scale=1:1:1", "scale"},
    {"rx:order=row,enter=part", "enter"},
    {"rx:mode=extended,bits=23:23:18", "bits"},
    {"rx:mode=naive,bits=23:23:18", "bits"},
    {"rx:update=refit,compact=on", "compact"},
    {"rx:update=refit,dedupe=on", "dedupe"},
    {"rx:order=row,dedupe=on", "dedupe"},
    {"rx:answer=rays,prim=aabb", "prim"},
    {"rx:answer=rays,range=scan", "range"},
    {"rx:answer=rays,dedupe=on", "dedupe"},
    {"rx:hit=closest,range=anyhit", "hit"},
    {"rx:answer=scan,range=anyhit", "range"},
    {"cgrx:rays=column,scene=naive", "rays"},
    {"cgrx:rays=column,flip=off", "flip"},
    {"cgrx:preset=paper,rays=column,updates=on", "flip"},
    {"rx:bits=0:23:23", "bits"},
    {"cgrx:updates=on,bucket=9", "bucket"},
    {"cgrx:updates=on,node=8,bucket=8", "bucket"},
    {"cgrx:node=8", "updates"},
    {"cgrx:fill=0.25", "updates"},
    {"cgrx:rebuild=never", "updates"},
    {"cgrx:apply=split", "updates"},
    {"cgrx:rebuild=1.5,updates=off", "updates"},
    {"cgrx:bits=0:23:23", "bits"},
};

/* What an option defaults to beside a certain choice. */
static const struct {
    const char *spec, *option, *value;
} settled[] = {
    {"btree:group=16", "node", "16"},
    {"btree:inner=half", "node", "16"},
    {"btree:preset=paper", "fill", "0.5"},
    {"btree:preset=paper,inner=full", "group", "16"},
    {"hash:preset=paper", "filter", "off"},
    {"hash:preset=paper,group=4", "probing", "double"},
    {"rx", "mode", "3d"},
    {"rx", "bits", "23:23:18"},
    {"rx:mode=extended", "range_ray", "zero"},
    {"rx:update=refit", "compact", "off"},
    {"rx:update=refit", "dedupe", "off"},
    {"rx:order=row", "dedupe", "off"},
    {"rx:answer=rays", "range", "anyhit"},
    {"rx:answer=rays", "dedupe", "off"},
    {"rx:preset=thesis,range=anyhit", "hit", "first"},
    {"rx:preset=paper", "answer", "rays"},
    {"rx:preset=paper", "order", "row"},
    {"rx:preset=paper,prim=aabb", "answer", "matches"},
    {"rx:preset=paper,range=scan", "answer", "matches"},
    {"rx:preset=paper,update=refit", "compact", "off"},
    {"rx:preset=paper,update=refit", "answer", "rays"},
    {"rx:preset=paper", "bvh", "balanced"},
    {"rx:preset=paper,prim=aabb", "bvh", "balanced"},
    {"rx:preset=thesis,prim=aabb", "bvh", "balanced"},
    {"rtscan:preset=paper", "bvh", "balanced"},
    {"rtscan:preset=paper", "ties", "shuffled"},
    {"rtscan:preset=paper,encode=off", "ties", "rows"},
    {"rtscan:prim=sphere,bvh=trace", "bvh", "trace"},
    {"rtc1:bvh=trace", "bvh", "trace"},
    {"rtc3:bvh=balanced", "bvh", "balanced"},
    {"rx:preset=thesis", "answer", "scan"},
    {"rx:preset=thesis", "hit", "closest"},
    {"rx:preset=thesis", "outside", "rays"},
    {"rx:preset=thesis,range=anyhit", "answer", "matches"},
    {"cgrx", "bucket", "16"},
    {"cgrx", "scene", "optimized"},
    {"cgrx", "rays", "auto"},
    {"cgrx", "scale", "15:25"},
    {"cgrx:scale=off", "scale", "0:0"},
    {"cgrx:scale=on", "scale", "15:25"},
    {"cgrx:preset=paper", "rays", "paper"},
    {"cgrx:preset=paper", "layout", "aos"},
    {"cgrx:preset=paper", "probes", "as-is"},
    {"cgrx:preset=paper", "flip", "on"},
    {"cgrx:preset=paper", "answer", "scan"},
    {"cgrx:preset=paper,layout=soa", "layout", "soa"},
    {"cgrx:preset=paper,updates=on", "flip", "off"},
    {"cgrx:preset=paper,updates=on", "rebuild", "never"},
    {"cgrx:preset=paper,updates=on", "apply", "split"},
    {"cgrx:preset=paper", "apply", "merge"},
    {"cgrx:preset=paper,updates=on,flip=on", "flip", "on"},
    {"cgrx:updates=on", "bucket", "16"},
    {"cgrx:updates=on,bucket=16", "fill", "0.5"},
    {"cgrx:updates=on,node=8", "bucket", "4"},
    {"cgrx:updates=on,node=6,fill=0.34", "bucket", "2"},
    {"cgrx:updates=on,node=3,fill=0.05", "bucket", "1"},
    {"cgrx:updates=on,node=1024,fill=1", "bucket", "1024"},
};

/* The rows of the kind, which not every build has. */
static void test_combinations(kr_suite *suite, const kr_kind *kind)
{
    char value[32];
    if (!kr_test_begin(suite, "spec/%s/combinations", kind->name))
        return;
    for (uint32_t i = 0; i < sizeof excluded / sizeof excluded[0]; ++i)
        if (strncmp(excluded[i].spec, kind->name, strcspn(excluded[i].spec, ":")) == 0)
            expect_refusal(suite, excluded[i].spec, excluded[i].must_name);
    for (uint32_t i = 0; i < sizeof settled / sizeof settled[0]; ++i)
        if (strncmp(settled[i].spec, kind->name, strcspn(settled[i].spec, ":")) == 0 &&
            strcmp(kr_spec_option(settled[i].spec, settled[i].option, value), settled[i].value) != 0)
            kr_test_fail(suite, "%s: %s is %s, not %s", settled[i].spec, settled[i].option, value,
                         settled[i].value);
    kr_test_end(suite);
}

/* What callers see of the option table. */
static void test_tables(kr_suite *suite, uint32_t ordinal, const kr_kind *kind)
{
    kr_kind_info info = {.struct_size = sizeof info};
    kr_option_info option = {.struct_size = sizeof option};
    kr_error err = {0};
    char spec[KR_SPEC_NBYTES];
    if (!kr_test_begin(suite, "spec/%s/tables", kind->name))
        return;
    if (kr_test_ok(suite, kr_kind_query(ordinal, &info, &err), &err, "kr_kind_query"))
        kr_test_expect(suite, !strcmp(info.name, kind->name) && ordinal < kr_kind_count(),
                       "kinds have names");
    for (uint32_t i = 0; i < info.option_count; ++i) {
        if (!kr_test_ok(suite, kr_option_query(ordinal, i, &option, &err), &err, "kr_option_query"))
            break;
        snprintf(spec, sizeof spec, "%s:%s=%s", kind->name, option.name, option.standard);
        if (!strstr(kind->name, "rx") ||
            option.form != KR_OPTION_TRIPLE) /* some go with other options only */
            kr_test_ok(suite, kr_spec_complete(spec, spec, sizeof spec, &err), &err, option.name);
        kr_test_expect(suite, option.values[0] && option.help[0] && option.form,
                       "an option says what it takes");
        kr_test_expect(suite, option.is_common == (i >= kind->n_options), "common options come last");
    }
    kr_test_refused(suite, KR_ERR_SPEC, kr_option_query(ordinal, info.option_count, &option, &err), &err,
                    "an option past the last");
    kr_test_refused(suite, KR_ERR_SPEC, kr_kind_query(kr_kind_count(), &info, &err), &err,
                    "a kind past the last");
    kr_test_end(suite);
}

/* The short form means the same, and none of its options can be left out. */
static void test_short(kr_suite *suite, const char *spec)
{
    char brief[KR_SPEC_NBYTES], whole[KR_SPEC_NBYTES], again[KR_SPEC_NBYTES];
    kr_error err = {0};
    if (!kr_test_ok(suite, kr_spec_shorten(spec, brief, sizeof brief, &err), &err, "kr_spec_shorten") ||
        !kr_test_ok(suite, kr_spec_complete(spec, whole, sizeof whole, &err), &err, "kr_spec_complete") ||
        !kr_test_ok(suite, kr_spec_complete(brief, again, sizeof again, &err), &err, brief))
        return;
    if (strcmp(whole, again) != 0)
        kr_test_fail(suite, "'%s' is shortened to '%s', which is '%s'", whole, brief, again);
    if (!kr_test_ok(suite, kr_spec_shorten(brief, again, sizeof again, &err), &err, brief) ||
        strcmp(brief, again) != 0)
        kr_test_fail(suite, "'%s' is shortened again, to '%s'", brief, again);
}

static void test_printed(kr_suite *suite, const char *spec)
{
    char once[KR_SPEC_NBYTES], twice[KR_SPEC_NBYTES];
    kr_error err = {0};
    if (!kr_test_begin(suite, "spec/%s/printed", spec))
        return;
    test_short(suite, spec);
    if (kr_test_ok(suite, kr_spec_complete(spec, once, sizeof once, &err), &err, "print") &&
        kr_test_ok(suite, kr_spec_complete(once, twice, sizeof twice, &err), &err, once) &&
        strcmp(once, twice) != 0)
        kr_test_fail(suite, "'%s' prints as '%s'", once, twice);
    kr_test_end(suite);
}

void kr_run_specs(kr_suite *suite, const kr_spec_list *list)
{
    const kr_kind *kind;
    for (uint32_t i = 0; (kind = kr_kind_at(i)); ++i) {
        test_kind(suite, kind);
        test_combinations(suite, kind);
        test_tables(suite, i, kind);
    }
    for (uint32_t i = 0; i < list->n; ++i)
        test_printed(suite, list->at[i].text);
}
