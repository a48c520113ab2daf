# Rivals whose code stays outside of this tree: cuCollections, for bench/baselines/static_map.cu.

set(KEYRAY_HAVE_PEERS OFF)
if(KEYRAY_PEERS)
    if(NOT EXISTS ${KEYRAY_PEERS}/include/cuco/static_map.cuh)
        message(FATAL_ERROR "KEYRAY_PEERS=${KEYRAY_PEERS} has no include/cuco/static_map.cuh; give a checkout of "
                            "cuCollections (github.com/NVIDIA/cuCollections)")
    elseif(NOT KEYRAY_HAVE_CUDA)
        message(FATAL_ERROR "KEYRAY_PEERS is a hash table for GPUs, and CUDA is ${KEYRAY_CUDA_NOTE}")
    endif()
    set(KEYRAY_HAVE_PEERS ON)
endif()
