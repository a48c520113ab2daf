/* The only file that knows the commit, so that a new commit recompiles nothing else. */
#include <keyray/keyray.h>

const char *kr_version(void)
{
    return KR_VERSION_STRING;
}

const char *kr_build_commit(void)
{
    return KR_BUILD_COMMIT;
}
