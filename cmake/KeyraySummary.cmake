# Says what was found, what was left out, and what that costs.

function(keyray_summary_line what note cost)
    string(LENGTH "${what}" length)
    math(EXPR pad "12 - ${length}")
    string(REPEAT " " ${pad} spaces)
    message(STATUS "  ${what}${spaces}${note}")
    if(cost)
        message(STATUS "              ${cost}")
    endif()
endfunction()

message(STATUS "keyray ${PROJECT_VERSION} (${KEYRAY_BUILD_COMMIT}), ${CMAKE_BUILD_TYPE}, "
               "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}")

set(cost "")
if(NOT KEYRAY_HAVE_CUDA)
    set(cost "cost: CPU only; opening \"cuda\" answers KR_ERR_NO_DEVICE")
endif()
keyray_summary_line(CUDA "${KEYRAY_CUDA_NOTE}" "${cost}")

set(cost "")
if(NOT KEYRAY_HAVE_EMBREE)
    set(cost "cost: kinds that cast rays answer KR_ERR_UNSUPPORTED on the CPU")
endif()
keyray_summary_line(Embree "${KEYRAY_EMBREE_NOTE}" "${cost}")

set(cost "")
if(NOT KEYRAY_HAVE_ZLIB)
    set(cost "cost: .gz files are refused")
endif()
keyray_summary_line(zlib "${KEYRAY_ZLIB_NOTE}" "${cost}")

set(cost "")
if(NOT KEYRAY_HAVE_ABSL)
    set(cost "cost: bench --baseline on the CPU leaves out absl::flat_hash_map and absl::btree_map")
endif()
keyray_summary_line(Abseil "${KEYRAY_ABSL_NOTE}" "${cost}")

if(KEYRAY_HAVE_PEERS)
    keyray_summary_line(Peers "cuCollections, ${KEYRAY_PEERS}" "")
endif()

if(KEYRAY_SANITIZE)
    keyray_summary_line(Sanitizers "${KEYRAY_SANITIZE}" "cost: slow, for tests only")
endif()

get_property(left_out GLOBAL PROPERTY KEYRAY_TESTS_LEFT_OUT)
if(NOT KEYRAY_TESTS)
    keyray_summary_line(Tests "left out by KEYRAY_TESTS=OFF" "")
elseif(left_out)
    list(JOIN left_out ", " left_out)
    keyray_summary_line(Tests "left out: ${left_out}" "cost: these are not run")
else()
    keyray_summary_line(Tests "all built" "")
endif()
