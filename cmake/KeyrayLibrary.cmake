# libkeyray, shared (installed, used by the command) and static (used by unit tests, which reach internals).
#
# Every source is compiled once for both. NAME_body.h is the source of NAME.c, which gets the loops for the CPU, and of
# a .cu file, which gets the kernels of a folder: keyray_body_sources makes those that are not there. The end of NAME says
# how it is compiled, whoever wrote the file. *_width.c and *_width.cu do not name the width of their keys and are compiled twice,
# with KR_KEY_BITS 32 and 64; *_ray_width.cu become PTX (KeyrayPtx.cmake). *_simd_width.c and *_simd.c hold programs that
# the CPU runs in the largest instruction set it has: they are compiled for each set besides, with KR_ISA 0 (plain),
# 1 (AVX2) and 2 (AVX-512).

set(folders src/api src/io src/join src/base/* src/base/devices/cpu src/index/* src/index/families/* src/table src/table/*
    src/table/families/* src/advise)
keyray_sources(all_sources ${folders})
keyray_body_sources(body_sources ${folders})
list(APPEND all_sources ${body_sources})
keyray_leave_out_kinds(all_sources)
if(KEYRAY_HAVE_CUDA)
    keyray_sources(cuda_sources src/base/devices/cuda src/base/tracers/optix)
    set(ray_sources ${all_sources})
    list(FILTER ray_sources INCLUDE REGEX "_ray_width\\.cu$")
    list(FILTER all_sources EXCLUDE REGEX "_ray_width\\.cu$")
    keyray_ptx(ptx_sources ${ray_sources})
    list(APPEND all_sources ${cuda_sources} ${ptx_sources})
endif()
if(KEYRAY_HAVE_EMBREE)
    keyray_sources(embree_sources src/base/tracers/embree)
    list(APPEND all_sources ${embree_sources})
endif()
set(width_sources ${all_sources})
list(FILTER width_sources INCLUDE REGEX "_width\\.cu?$")
set(simd_sources ${width_sources})
list(FILTER simd_sources INCLUDE REGEX "_simd_width\\.c$")
list(FILTER width_sources EXCLUDE REGEX "_simd_width\\.c$")
set(simd_once_sources ${all_sources})
list(FILTER simd_once_sources INCLUDE REGEX "_simd\\.c$")
set(once_sources ${all_sources})
list(FILTER once_sources EXCLUDE REGEX "_width\\.cu?$")
list(FILTER once_sources EXCLUDE REGEX "_simd\\.c$")

# The flags of each set, by KR_ISA; src/base/devices/cpu/isa.c asks the CPU for the same.
set(isa_flags_1 -mavx2 -mpopcnt -mbmi -mbmi2)
set(isa_flags_2 ${isa_flags_1} -mavx512f -mavx512vl -mavx512bw -mavx512dq)
set(isas 0)
include(CheckCCompilerFlag)
# The preset of ThreadSanitizer goes without: threads meet in the same places, and two thirds of these files are left out.
if(NOT KEYRAY_SIMD)
    unset(KEYRAY_HAVE_SIMD CACHE)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    list(JOIN isa_flags_2 " " flags)
    check_c_compiler_flag("${flags}" KEYRAY_HAVE_SIMD)
    if(KEYRAY_HAVE_SIMD)
        list(APPEND isas 1 2)
    endif()
endif()

function(keyray_objects target)
    if(NOT ARGN)
        return()
    endif()
    add_library(${target} OBJECT ${ARGN})
    keyray_compile_options(${target})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    target_compile_definitions(${target} PRIVATE
        $<$<BOOL:${KEYRAY_HAVE_CUDA}>:KR_WITH_CUDA=1>
        $<$<BOOL:${KEYRAY_HAVE_SIMD}>:KR_WITH_SIMD=1>
        $<$<AND:$<COMPILE_LANGUAGE:C>,$<NOT:$<EQUAL:${KEYRAY_BLOCK_THREADS},1>>>:KR_BLOCK_SIZE=${KEYRAY_BLOCK_THREADS}>
        $<$<BOOL:${KEYRAY_HAVE_EMBREE}>:KR_WITH_EMBREE=1;KR_EMBREE_MAJOR=${KEYRAY_EMBREE_MAJOR}>
        $<$<BOOL:${KEYRAY_HAVE_ZLIB}>:KR_WITH_ZLIB=1>)
    if(KEYRAY_HAVE_CUDA)
        target_include_directories(${target} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    endif()
    if(KEYRAY_HAVE_EMBREE)
        target_include_directories(${target} SYSTEM PRIVATE ${KEYRAY_EMBREE_INCLUDE_DIR})
    endif()
    if(KEYRAY_HAVE_ZLIB)
        target_include_directories(${target} SYSTEM PRIVATE ${ZLIB_INCLUDE_DIRS})
    endif()
    set(keyray_objects ${keyray_objects} $<TARGET_OBJECTS:${target}> PARENT_SCOPE)
endfunction()

# Sources in the instruction set `isa`.
macro(keyray_isa_objects target isa)
    keyray_objects(${target} ${ARGN})
    if(TARGET ${target})
        target_compile_definitions(${target} PRIVATE KR_ISA=${isa})
        target_compile_options(${target} PRIVATE ${isa_flags_${isa}})
    endif()
endmacro()

set(keyray_objects)
keyray_objects(keyray_once ${once_sources})
if(KEYRAY_ABI)
    target_compile_options(keyray_once PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-g>)
endif()
foreach(isa IN LISTS isas)
    keyray_isa_objects(keyray_isa${isa} ${isa} ${simd_once_sources})
endforeach()
foreach(bits 32 64)
    keyray_objects(keyray_u${bits} ${width_sources})
    if(TARGET keyray_u${bits})
        target_compile_definitions(keyray_u${bits} PRIVATE KR_KEY_BITS=${bits})
    endif()
    foreach(isa IN LISTS isas)
        keyray_isa_objects(keyray_u${bits}_isa${isa} ${isa} ${simd_sources})
        if(TARGET keyray_u${bits}_isa${isa})
            target_compile_definitions(keyray_u${bits}_isa${isa} PRIVATE KR_KEY_BITS=${bits})
        endif()
    endforeach()
endforeach()
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/base/util/version.c PROPERTIES
                            COMPILE_DEFINITIONS KR_BUILD_COMMIT="${KEYRAY_BUILD_COMMIT}")

# The linker's version script comes from the reviewed list of exported functions.
file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/keyray.exports exports REGEX "^kr_")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/keyray.exports)
list(JOIN exports ";\n        " exports_text)
# The part of the version that a breaking change raises: the minor one below 1.0, then the major one.
set(abi ${PROJECT_VERSION_MAJOR})
if(abi EQUAL 0)
    set(abi 0.${PROJECT_VERSION_MINOR})
endif()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/keyray.map @ONLY
     CONTENT "KEYRAY_@abi@ {\n    global:\n        @exports_text@;\n    local:\n        *;\n};\n")

add_library(keyray SHARED ${keyray_objects})
add_library(keyray_static STATIC ${keyray_objects})
add_library(keyray::keyray ALIAS keyray)
foreach(target keyray keyray_static)
    keyray_compile_options(${target})
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${target} PRIVATE
        Threads::Threads
        ${CMAKE_DL_LIBS}
        m
        $<$<BOOL:${KEYRAY_HAVE_ZLIB}>:ZLIB::ZLIB>
        # Linked in whole, so that the library loads where there is neither CUDA nor a driver.
        $<$<BOOL:${KEYRAY_HAVE_CUDA}>:CUDA::cudart_static>)
endforeach()
# Threads of its pool stay in its code, so it is never unmapped.
target_link_options(keyray PRIVATE LINKER:-z,nodelete)
if(KEYRAY_HAVE_CUDA)
    # CUB is C++.
    set_target_properties(keyray PROPERTIES LINKER_LANGUAGE CXX)
    keyray_link_cxx_runtime(keyray)
endif()
set_target_properties(keyray PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${abi}
    LINK_DEPENDS ${PROJECT_BINARY_DIR}/keyray.map)
target_link_options(keyray PRIVATE -Wl,--version-script=${PROJECT_BINARY_DIR}/keyray.map -Wl,--as-needed)
if(NOT KEYRAY_SANITIZE)
    target_link_options(keyray PRIVATE -Wl,--no-undefined)
endif()
