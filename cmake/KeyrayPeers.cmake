# Rivals whose code stays outside of this tree: cuCollections, for bench/baselines/static_map.cu, and Abseil, for
# bench/baselines/absl_maps.cpp. Sets KEYRAY_HAVE_PEERS, KEYRAY_PEERS_VERSION, KEYRAY_HAVE_ABSL and KEYRAY_ABSL_NOTE.

set(KEYRAY_HAVE_PEERS OFF)
if(KEYRAY_PEERS)
    if(NOT EXISTS ${KEYRAY_PEERS}/include/cuco/static_map.cuh)
        message(FATAL_ERROR "KEYRAY_PEERS=${KEYRAY_PEERS} has no include/cuco/static_map.cuh; give a checkout of "
                            "cuCollections (github.com/NVIDIA/cuCollections)")
    elseif(NOT KEYRAY_HAVE_CUDA)
        message(FATAL_ERROR "KEYRAY_PEERS is a hash table for GPUs, and CUDA is ${KEYRAY_CUDA_NOTE}")
    endif()
    set(KEYRAY_HAVE_PEERS ON)
    # Its headers name no version.
    execute_process(COMMAND git -C ${KEYRAY_PEERS} rev-parse --short HEAD OUTPUT_VARIABLE commit ERROR_QUIET
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(KEYRAY_PEERS_VERSION "of an unknown commit")
    if(commit)
        set(KEYRAY_PEERS_VERSION "commit ${commit}")
    endif()
endif()

# The command is to start where Abseil is not, so its archives are linked, not its shared libraries.
set(KEYRAY_HAVE_ABSL OFF)
set(KEYRAY_ABSL_NOTE "left out: CMake did not find Abseil (Debian: libabsl-dev)")
if(KEYRAY_SANITIZE)
    set(KEYRAY_ABSL_NOTE "left out: Abseil's archives have no sanitizers")
else()
    find_package(absl QUIET)
endif()
if(absl_FOUND)
    get_target_property(base absl::base LOCATION)
    get_filename_component(folder "${base}" DIRECTORY)
    file(GLOB archives ${folder}/libabsl_*.a)
    set(KEYRAY_ABSL_NOTE "left out: ${folder} has no libabsl_*.a")
    if(archives)
        set(KEYRAY_HAVE_ABSL ON)
        set(KEYRAY_ABSL_NOTE "${absl_VERSION}")
        get_target_property(folders absl::base INTERFACE_INCLUDE_DIRECTORIES)
        add_library(keyray_absl INTERFACE)
        target_include_directories(keyray_absl SYSTEM INTERFACE ${folders})
        target_link_libraries(keyray_absl INTERFACE -Wl,--start-group ${archives} -Wl,--end-group)
    endif()
endif()
