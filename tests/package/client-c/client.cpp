// The headers and the library from C++.
#include <keyray/keyray.h>
#include <keyray/keyray_cuda.h>

#include <cstdio>

int main()
{
    kr_error err{};
    kr_kind_info kind{};
    kind.struct_size = sizeof kind;
    if (kr_kind_query(0, &kind, &err) != KR_OK) {
        std::fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    std::printf("%s %s\n", KR_VERSION_STRING, kr_version());
    return 0;
}
