/* Spec strings of any content: a printed spec parses to itself, a refusal has one line. */
#include "standalone.h"

#include <keyray/keyray.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int held, const char *what, const char *spec)
{
    if (held)
        return;
    fprintf(stderr, "broken: %s: '%s'\n", what, spec);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    char once[512], twice[512], tight[512];
    kr_error err = {0};
    char *spec = malloc(nbytes + 1);
    if (!spec)
        abort();
    memcpy(spec, data, nbytes);
    spec[nbytes] = '\0';
    memset(once, '?', sizeof once);
    const kr_status status = kr_spec_complete(spec, once, sizeof once, &err);
    if (status == KR_OK) {
        const size_t length = strnlen(once, sizeof once);
        require(length < sizeof once, "a printed spec ends", spec);
        require(kr_spec_complete(once, twice, sizeof twice, &err) == KR_OK, "a printed spec parses", once);
        require(strcmp(once, twice) == 0, "a printed spec prints as itself", once);
        require(kr_spec_complete(spec, tight, length, &err) == KR_ERR_LIMIT, "too little room is refused",
                spec);
        require(kr_spec_complete(spec, tight, length + 1, &err) == KR_OK, "just enough room is enough", spec);
    } else {
        require(status == KR_ERR_SPEC && err.status == status, "a bad spec is KR_ERR_SPEC", spec);
        require(err.text[0] != '\0' && memchr(err.text, '\0', sizeof err.text) != NULL, "it is said why",
                spec);
        require(memchr(once, 0, sizeof once) == NULL, "nothing is written on an error", spec);
    }
    free(spec);
    return 0;
}

#ifndef KR_LIBFUZZER
int main(int argc, char **argv)
{
    static const struct kr_fuzz_seed seeds[] = {
        KR_SEED("array"),
        KR_SEED("array:layout=aos"),
        KR_SEED("array:layout=soa,keep=host,scan_threads=many,schedule=dynamic,threads=256,per_thread=1,"
                "group=1,pin="
                "none,reorder=none,ends=search,shared=96,k="
                "2,probes=auto"),
        KR_SEED("array:k=33,probes=sorted"),
        KR_SEED("array:probes=as-is,layout=aos,k=5"),
        KR_SEED("array:k=-9223372036854775808"),
        KR_SEED("array:k=2,k=2"),
        KR_SEED("array:"),
        KR_SEED(":,=,=:"),
        KR_SEED("rx"),
        KR_SEED("rx:bits=23:23:18,mode=3d"),
        KR_SEED("rx:bits=1:2:,scale=1:2"),
        KR_SEED("rx:mode=extended,range_ray=zero"),
        KR_SEED("rx:update=refit"),
        KR_SEED("cgrx"),
        KR_SEED("cgrx:scale=on,bits=22:21:21,filter=8"),
        KR_SEED("cgrx:scale=3:7,scene=naive,rays=paper,bucket=3"),
        KR_SEED("cgrx:updates=on,node=8,fill=0.125,rebuild=1.5"),
        KR_SEED("cgrx:updates=on,rebuild=never,fill=1.000"),
        KR_SEED("cgrx:scale=off,fill=.5"),
    };
    return kr_fuzz_main(argc, argv, seeds, sizeof seeds / sizeof seeds[0], 200000);
}
#endif
