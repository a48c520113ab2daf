/* Names every exported function, so that this links only if the headers declare and the library has them all.
 */
#include <keyray/keyray.h>
#include <keyray/keyray_cuda.h>

#include <stdio.h>

#include "exports.h"

typedef void (*function)(void);

static const struct {
    const char *name;
    function address;
} functions[] = {
#define NAME(f) {#f, (function)f},
    EXPORTS
#undef NAME
};

int main(void)
{
    size_t n = sizeof functions / sizeof functions[0];
    for (size_t i = 0; i < n; i++)
        if (functions[i].address == NULL) {
            printf("%s is NULL\n", functions[i].name);
            return 1;
        }
    printf("%zu functions linked\n", n);
    return 0;
}
