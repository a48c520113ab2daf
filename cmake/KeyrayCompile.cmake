# What every target of the project is compiled with.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Usage: keyray_compile_options(TARGET): warnings, sanitizers and the defines of all own code.
function(keyray_compile_options target)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
    target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers>
        $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>
        $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
    if(KEYRAY_WERROR)
        target_compile_options(${target} PRIVATE
            $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>
            $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings;-Xcompiler=-Werror>)
    endif()
    # gcc clears and copies structs with string instructions, whose start takes as long as a node of a search:
    # a call with one probe has ten of them.
    if(CMAKE_C_COMPILER_ID STREQUAL GNU AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
        set(strategy "unrolled_loop:1024:noalign,libcall:-1:noalign")
        target_compile_options(${target} PRIVATE
            $<$<COMPILE_LANGUAGE:C>:-mmemset-strategy=${strategy} -mmemcpy-strategy=${strategy}>)
    endif()
    if(KEYRAY_SANITIZE)
        list(JOIN KEYRAY_SANITIZE "," sanitizers)
        set(flags -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:${flags}>)
        target_link_options(${target} PRIVATE -fsanitize=${sanitizers})
    endif()
endfunction()

# Usage: keyray_sources(OUT FOLDER...): the C sources of the folders, and with CUDA their .cu files. A new
# file is seen by the next build, so adding an index needs no edit here.
function(keyray_sources out)
    set(patterns)
    foreach(folder IN LISTS ARGN)
        list(APPEND patterns ${folder}/*.c)
        if(KEYRAY_HAVE_CUDA)
            list(APPEND patterns ${folder}/*.cu)
        endif()
    endforeach()
    file(GLOB sources CONFIGURE_DEPENDS ${patterns})
    set(${out} ${sources} PARENT_SCOPE)
endfunction()

# The .cu file of the body `name`: that of its folder, since nvcc reads CUDA's own headers for each file, which takes
# longer than most bodies. Bodies for each width of keys have one of their own. Programs of rays and walks
# (index/results/walk_programs.h), which use the same names, have one each.
function(keyray_kernels_of name out)
    get_filename_component(folder ${name} DIRECTORY)
    file(STRINGS ${PROJECT_SOURCE_DIR}/src/${name}_body.h walks REGEX "#include \".*/walk_programs.h\"" LIMIT_COUNT 1)
    if(walks OR name MATCHES "_ray_width$")
        set(kernels ${name})
    elseif(name MATCHES "_width$")
        set(kernels ${folder}/kernels_width)
    else()
        set(kernels ${folder}/kernels)
    endif()
    set(${out} ${PROJECT_BINARY_DIR}/src/${kernels}.cu PARENT_SCOPE)
endfunction()

# Usage: keyray_body_sources(OUT FOLDER...): of every NAME_body.h in the folders under src/, NAME.c and, with CUDA,
# a .cu file, unless the folder has NAME.c or NAME.cu. They include headers and nothing else, and lie in the build's
# folder as the headers do under the project's. A new header is seen by the next build.
function(keyray_body_sources out)
    list(TRANSFORM ARGN APPEND "/*_body.h" OUTPUT_VARIABLE patterns)
    file(GLOB bodies CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src ${patterns})
    set(made)
    foreach(body IN LISTS bodies)
        string(REGEX REPLACE "_body\\.h$" "" name ${body})
        set(sources ${PROJECT_BINARY_DIR}/src/${name}.c)
        if(KEYRAY_HAVE_CUDA AND NOT EXISTS ${PROJECT_SOURCE_DIR}/src/${name}.cu)
            keyray_kernels_of(${name} kernels)
            list(APPEND sources ${kernels})
        endif()
        if(EXISTS ${PROJECT_SOURCE_DIR}/src/${name}.c)
            list(POP_FRONT sources)
        endif()
        foreach(source IN LISTS sources)
            string(MAKE_C_IDENTIFIER text_${source} text)
            string(APPEND ${text} "#include \"${body}\"\n")
            list(APPEND made ${source})
        endforeach()
    endforeach()
    list(REMOVE_DUPLICATES made)
    foreach(source IN LISTS made)
        string(MAKE_C_IDENTIFIER text_${source} text)
        file(CONFIGURE OUTPUT ${source} CONTENT "${${text}}" @ONLY)
    endforeach()
    set(${out} ${made} PARENT_SCOPE)
endfunction()

# Usage: keyray_link_cxx_runtime(TARGET): links C++'s runtime in, so that a user needs no more than libc.
function(keyray_link_cxx_runtime target)
    if(NOT KEYRAY_SANITIZE)
        target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
    endif()
endfunction()
