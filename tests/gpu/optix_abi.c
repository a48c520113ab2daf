/* Compares src/base/tracers/optix/optix_abi.h with the real headers of OptiX 8.0; skipped where the build was
 * not given them (-DOptiX_ROOT=FOLDER). Needs no GPU. */
#include "base/tracers/optix/optix_abi.h"

#include <stdio.h>

#if defined(KR_WITH_OPTIX_HEADERS)

#include <cuda.h>

#include <optix.h>
#include <optix_function_table.h>

static int compared, wrong;

static void compare(const char *what, unsigned long long ours, unsigned long long theirs)
{
    ++compared;
    if (ours == theirs)
        return;
    ++wrong;
    printf("FAIL  %s: %llu here, %llu in OptiX\n", what, ours, theirs);
}

#define CONSTANT(ours, theirs) compare(#theirs, (uint32_t)(ours), (uint32_t)(theirs))
#define SIZE(ours, theirs) compare("size of " #theirs, sizeof(ours), sizeof(theirs))
/* A field's place and size. */
#define FIELD(ours, field, theirs, name)                                                    \
    (compare("place of " #theirs "." #name, offsetof(ours, field), offsetof(theirs, name)), \
     compare("size of " #theirs "." #name, sizeof(((ours *)0)->field), sizeof(((theirs *)0)->name)))

static void compare_constants(void)
{
    CONSTANT(KR_OPTIX_ABI, OPTIX_ABI_VERSION);
    CONSTANT(KR_OPTIX_SUCCESS, OPTIX_SUCCESS);
    CONSTANT(KR_OPTIX_HOST_OUT_OF_MEMORY, OPTIX_ERROR_HOST_OUT_OF_MEMORY);
    CONSTANT(KR_OPTIX_LAUNCH_FAILURE, OPTIX_ERROR_LAUNCH_FAILURE);
    CONSTANT(KR_OPTIX_UNSUPPORTED_ABI, OPTIX_ERROR_UNSUPPORTED_ABI_VERSION);
    CONSTANT(KR_OPTIX_DEVICE_OUT_OF_MEMORY, OPTIX_ERROR_DEVICE_OUT_OF_MEMORY);
    CONSTANT(KR_OPTIX_RTCORE_VERSION, OPTIX_DEVICE_PROPERTY_RTCORE_VERSION);
    CONSTANT(KR_OPTIX_INPUT_TRIANGLES, OPTIX_BUILD_INPUT_TYPE_TRIANGLES);
    CONSTANT(KR_OPTIX_INPUT_BOXES, OPTIX_BUILD_INPUT_TYPE_CUSTOM_PRIMITIVES);
    CONSTANT(KR_OPTIX_INPUT_INSTANCES, OPTIX_BUILD_INPUT_TYPE_INSTANCES);
    CONSTANT(KR_OPTIX_INPUT_SPHERES, OPTIX_BUILD_INPUT_TYPE_SPHERES);
    CONSTANT(KR_OPTIX_FLOAT3, OPTIX_VERTEX_FORMAT_FLOAT3);
    CONSTANT(KR_OPTIX_GEOMETRY_ONE_ANYHIT, OPTIX_GEOMETRY_FLAG_REQUIRE_SINGLE_ANYHIT_CALL);
    CONSTANT(KR_OPTIX_ALLOW_UPDATE, OPTIX_BUILD_FLAG_ALLOW_UPDATE);
    CONSTANT(KR_OPTIX_ALLOW_COMPACTION, OPTIX_BUILD_FLAG_ALLOW_COMPACTION);
    CONSTANT(KR_OPTIX_PREFER_FAST_TRACE, OPTIX_BUILD_FLAG_PREFER_FAST_TRACE);
    CONSTANT(KR_OPTIX_PREFER_FAST_BUILD, OPTIX_BUILD_FLAG_PREFER_FAST_BUILD);
    CONSTANT(KR_OPTIX_BUILD, OPTIX_BUILD_OPERATION_BUILD);
    CONSTANT(KR_OPTIX_UPDATE, OPTIX_BUILD_OPERATION_UPDATE);
    CONSTANT(KR_OPTIX_COMPACTED_SIZE, OPTIX_PROPERTY_TYPE_COMPACTED_SIZE);
    CONSTANT(KR_OPTIX_OPTIMIZE_MOST, OPTIX_COMPILE_OPTIMIZATION_LEVEL_3);
    CONSTANT(KR_OPTIX_DEBUG_NONE, OPTIX_COMPILE_DEBUG_LEVEL_NONE);
    CONSTANT(KR_OPTIX_GRAPH_ANY, OPTIX_TRAVERSABLE_GRAPH_FLAG_ALLOW_ANY);
    CONSTANT(KR_OPTIX_GRAPH_SINGLE, OPTIX_TRAVERSABLE_GRAPH_FLAG_ALLOW_SINGLE_GAS);
    CONSTANT(KR_OPTIX_GRAPH_INSTANCES, OPTIX_TRAVERSABLE_GRAPH_FLAG_ALLOW_SINGLE_LEVEL_INSTANCING);
    CONSTANT(KR_OPTIX_USES_BOXES, OPTIX_PRIMITIVE_TYPE_FLAGS_CUSTOM);
    CONSTANT(KR_OPTIX_USES_SPHERES, OPTIX_PRIMITIVE_TYPE_FLAGS_SPHERE);
    CONSTANT(KR_OPTIX_USES_TRIANGLES, OPTIX_PRIMITIVE_TYPE_FLAGS_TRIANGLE);
    CONSTANT(KR_OPTIX_BUILTIN_SPHERE, OPTIX_PRIMITIVE_TYPE_SPHERE);
    CONSTANT(KR_OPTIX_GROUP_RAYGEN, OPTIX_PROGRAM_GROUP_KIND_RAYGEN);
    CONSTANT(KR_OPTIX_GROUP_MISS, OPTIX_PROGRAM_GROUP_KIND_MISS);
    CONSTANT(KR_OPTIX_GROUP_HIT, OPTIX_PROGRAM_GROUP_KIND_HITGROUP);
    CONSTANT(KR_OPTIX_RECORD_NBYTES, OPTIX_SBT_RECORD_HEADER_SIZE);
    CONSTANT(KR_OPTIX_RAY_NO_ANYHIT, OPTIX_RAY_FLAG_DISABLE_ANYHIT);
    CONSTANT(KR_OPTIX_RAY_FIRST_HIT, OPTIX_RAY_FLAG_TERMINATE_ON_FIRST_HIT);
    CONSTANT(KR_OPTIX_RAY_NO_CLOSESTHIT, OPTIX_RAY_FLAG_DISABLE_CLOSESTHIT);
    CONSTANT(KR_OPTIX_HIT_BACK, OPTIX_HIT_KIND_TRIANGLE_BACK_FACE);
}

static void compare_inputs(void)
{
    SIZE(kr_optix_input, OptixBuildInput);
    FIELD(kr_optix_input, type, OptixBuildInput, type);
    FIELD(kr_optix_input, of.all, OptixBuildInput, pad);
    FIELD(kr_optix_triangles, vertices, OptixBuildInputTriangleArray, vertexBuffers);
    FIELD(kr_optix_triangles, n_vertices, OptixBuildInputTriangleArray, numVertices);
    FIELD(kr_optix_triangles, vertex_format, OptixBuildInputTriangleArray, vertexFormat);
    FIELD(kr_optix_triangles, vertex_stride, OptixBuildInputTriangleArray, vertexStrideInBytes);
    FIELD(kr_optix_triangles, indices, OptixBuildInputTriangleArray, indexBuffer);
    FIELD(kr_optix_triangles, index_format, OptixBuildInputTriangleArray, indexFormat);
    FIELD(kr_optix_triangles, transform, OptixBuildInputTriangleArray, preTransform);
    FIELD(kr_optix_triangles, flags, OptixBuildInputTriangleArray, flags);
    FIELD(kr_optix_triangles, n_records, OptixBuildInputTriangleArray, numSbtRecords);
    FIELD(kr_optix_triangles, record_offsets, OptixBuildInputTriangleArray, sbtIndexOffsetBuffer);
    FIELD(kr_optix_triangles, first_primitive, OptixBuildInputTriangleArray, primitiveIndexOffset);
    FIELD(kr_optix_triangles, transform_format, OptixBuildInputTriangleArray, transformFormat);
    compare("start of OptixBuildInputTriangleArray's micromaps", sizeof(kr_optix_triangles),
            offsetof(OptixBuildInputTriangleArray, opacityMicromap));
    SIZE(kr_optix_spheres, OptixBuildInputSphereArray);
    FIELD(kr_optix_spheres, centres, OptixBuildInputSphereArray, vertexBuffers);
    FIELD(kr_optix_spheres, centre_stride, OptixBuildInputSphereArray, vertexStrideInBytes);
    FIELD(kr_optix_spheres, n, OptixBuildInputSphereArray, numVertices);
    FIELD(kr_optix_spheres, radii, OptixBuildInputSphereArray, radiusBuffers);
    FIELD(kr_optix_spheres, radius_stride, OptixBuildInputSphereArray, radiusStrideInBytes);
    FIELD(kr_optix_spheres, one_radius, OptixBuildInputSphereArray, singleRadius);
    FIELD(kr_optix_spheres, flags, OptixBuildInputSphereArray, flags);
    FIELD(kr_optix_spheres, n_records, OptixBuildInputSphereArray, numSbtRecords);
    FIELD(kr_optix_spheres, first_primitive, OptixBuildInputSphereArray, primitiveIndexOffset);
    SIZE(kr_optix_boxes, OptixBuildInputCustomPrimitiveArray);
    FIELD(kr_optix_boxes, boxes, OptixBuildInputCustomPrimitiveArray, aabbBuffers);
    FIELD(kr_optix_boxes, n, OptixBuildInputCustomPrimitiveArray, numPrimitives);
    FIELD(kr_optix_boxes, stride, OptixBuildInputCustomPrimitiveArray, strideInBytes);
    FIELD(kr_optix_boxes, flags, OptixBuildInputCustomPrimitiveArray, flags);
    FIELD(kr_optix_boxes, n_records, OptixBuildInputCustomPrimitiveArray, numSbtRecords);
    FIELD(kr_optix_boxes, first_primitive, OptixBuildInputCustomPrimitiveArray, primitiveIndexOffset);
    SIZE(kr_optix_instances, OptixBuildInputInstanceArray);
    FIELD(kr_optix_instances, instances, OptixBuildInputInstanceArray, instances);
    FIELD(kr_optix_instances, n, OptixBuildInputInstanceArray, numInstances);
    FIELD(kr_optix_instances, stride, OptixBuildInputInstanceArray, instanceStride);
}

static void compare_builds(void)
{
    SIZE(kr_optix_context_options, OptixDeviceContextOptions);
    FIELD(kr_optix_context_options, log, OptixDeviceContextOptions, logCallbackFunction);
    FIELD(kr_optix_context_options, log_ctx, OptixDeviceContextOptions, logCallbackData);
    FIELD(kr_optix_context_options, log_level, OptixDeviceContextOptions, logCallbackLevel);
    FIELD(kr_optix_context_options, validation, OptixDeviceContextOptions, validationMode);
    SIZE(kr_optix_instance, OptixInstance);
    FIELD(kr_optix_instance, transform, OptixInstance, transform);
    FIELD(kr_optix_instance, id, OptixInstance, instanceId);
    FIELD(kr_optix_instance, record_offset, OptixInstance, sbtOffset);
    FIELD(kr_optix_instance, visibility, OptixInstance, visibilityMask);
    FIELD(kr_optix_instance, flags, OptixInstance, flags);
    FIELD(kr_optix_instance, traversable, OptixInstance, traversableHandle);
    SIZE(kr_optix_build_options, OptixAccelBuildOptions);
    FIELD(kr_optix_build_options, flags, OptixAccelBuildOptions, buildFlags);
    FIELD(kr_optix_build_options, operation, OptixAccelBuildOptions, operation);
    FIELD(kr_optix_build_options, motion, OptixAccelBuildOptions, motionOptions);
    SIZE(kr_optix_build_sizes, OptixAccelBufferSizes);
    FIELD(kr_optix_build_sizes, output_nbytes, OptixAccelBufferSizes, outputSizeInBytes);
    FIELD(kr_optix_build_sizes, temp_nbytes, OptixAccelBufferSizes, tempSizeInBytes);
    FIELD(kr_optix_build_sizes, update_temp_nbytes, OptixAccelBufferSizes, tempUpdateSizeInBytes);
    SIZE(kr_optix_emit, OptixAccelEmitDesc);
    FIELD(kr_optix_emit, to, OptixAccelEmitDesc, result);
    FIELD(kr_optix_emit, property, OptixAccelEmitDesc, type);
}

static void compare_modules(void)
{
    SIZE(kr_optix_module_options, OptixModuleCompileOptions);
    FIELD(kr_optix_module_options, most_registers, OptixModuleCompileOptions, maxRegisterCount);
    FIELD(kr_optix_module_options, optimize, OptixModuleCompileOptions, optLevel);
    FIELD(kr_optix_module_options, debug, OptixModuleCompileOptions, debugLevel);
    FIELD(kr_optix_module_options, bound_values, OptixModuleCompileOptions, boundValues);
    FIELD(kr_optix_module_options, n_payload_types, OptixModuleCompileOptions, numPayloadTypes);
    FIELD(kr_optix_module_options, payload_types, OptixModuleCompileOptions, payloadTypes);
    SIZE(kr_optix_pipeline_options, OptixPipelineCompileOptions);
    FIELD(kr_optix_pipeline_options, motion, OptixPipelineCompileOptions, usesMotionBlur);
    FIELD(kr_optix_pipeline_options, graphs, OptixPipelineCompileOptions, traversableGraphFlags);
    FIELD(kr_optix_pipeline_options, n_payload, OptixPipelineCompileOptions, numPayloadValues);
    FIELD(kr_optix_pipeline_options, n_attributes, OptixPipelineCompileOptions, numAttributeValues);
    FIELD(kr_optix_pipeline_options, exceptions, OptixPipelineCompileOptions, exceptionFlags);
    FIELD(kr_optix_pipeline_options, params_name, OptixPipelineCompileOptions,
          pipelineLaunchParamsVariableName);
    FIELD(kr_optix_pipeline_options, primitives, OptixPipelineCompileOptions, usesPrimitiveTypeFlags);
    FIELD(kr_optix_pipeline_options, micromaps, OptixPipelineCompileOptions, allowOpacityMicromaps);
    SIZE(kr_optix_builtin_options, OptixBuiltinISOptions);
    FIELD(kr_optix_builtin_options, primitive, OptixBuiltinISOptions, builtinISModuleType);
    FIELD(kr_optix_builtin_options, build_flags, OptixBuiltinISOptions, buildFlags);
    SIZE(kr_optix_link_options, OptixPipelineLinkOptions);
}

static void compare_groups(void)
{
    SIZE(kr_optix_group, OptixProgramGroupDesc);
    FIELD(kr_optix_group, kind, OptixProgramGroupDesc, kind);
    FIELD(kr_optix_group, flags, OptixProgramGroupDesc, flags);
    FIELD(kr_optix_group, of.raygen.module, OptixProgramGroupDesc, raygen.module);
    FIELD(kr_optix_group, of.raygen.name, OptixProgramGroupDesc, raygen.entryFunctionName);
    FIELD(kr_optix_group, of.hit.closest.module, OptixProgramGroupDesc, hitgroup.moduleCH);
    FIELD(kr_optix_group, of.hit.closest.name, OptixProgramGroupDesc, hitgroup.entryFunctionNameCH);
    FIELD(kr_optix_group, of.hit.any.module, OptixProgramGroupDesc, hitgroup.moduleAH);
    FIELD(kr_optix_group, of.hit.any.name, OptixProgramGroupDesc, hitgroup.entryFunctionNameAH);
    FIELD(kr_optix_group, of.hit.intersection.module, OptixProgramGroupDesc, hitgroup.moduleIS);
    FIELD(kr_optix_group, of.hit.intersection.name, OptixProgramGroupDesc, hitgroup.entryFunctionNameIS);
    SIZE(kr_optix_group_options, OptixProgramGroupOptions);
    SIZE(kr_optix_stack_sizes, OptixStackSizes);
    FIELD(kr_optix_stack_sizes, raygen, OptixStackSizes, cssRG);
    FIELD(kr_optix_stack_sizes, miss, OptixStackSizes, cssMS);
    FIELD(kr_optix_stack_sizes, closest, OptixStackSizes, cssCH);
    FIELD(kr_optix_stack_sizes, any, OptixStackSizes, cssAH);
    FIELD(kr_optix_stack_sizes, intersection, OptixStackSizes, cssIS);
    SIZE(kr_optix_table, OptixShaderBindingTable);
    FIELD(kr_optix_table, raygen, OptixShaderBindingTable, raygenRecord);
    FIELD(kr_optix_table, miss.first, OptixShaderBindingTable, missRecordBase);
    FIELD(kr_optix_table, miss.stride, OptixShaderBindingTable, missRecordStrideInBytes);
    FIELD(kr_optix_table, miss.n, OptixShaderBindingTable, missRecordCount);
    FIELD(kr_optix_table, hit.first, OptixShaderBindingTable, hitgroupRecordBase);
    FIELD(kr_optix_table, hit.stride, OptixShaderBindingTable, hitgroupRecordStrideInBytes);
    FIELD(kr_optix_table, hit.n, OptixShaderBindingTable, hitgroupRecordCount);
}

static void compare_functions(void)
{
    SIZE(kr_optix_api, OptixFunctionTable);
    FIELD(kr_optix_api, error_name, OptixFunctionTable, optixGetErrorName);
    FIELD(kr_optix_api, error_string, OptixFunctionTable, optixGetErrorString);
    FIELD(kr_optix_api, context_create, OptixFunctionTable, optixDeviceContextCreate);
    FIELD(kr_optix_api, context_destroy, OptixFunctionTable, optixDeviceContextDestroy);
    FIELD(kr_optix_api, context_property, OptixFunctionTable, optixDeviceContextGetProperty);
    FIELD(kr_optix_api, module_create, OptixFunctionTable, optixModuleCreate);
    FIELD(kr_optix_api, module_destroy, OptixFunctionTable, optixModuleDestroy);
    FIELD(kr_optix_api, builtin_module, OptixFunctionTable, optixBuiltinISModuleGet);
    FIELD(kr_optix_api, group_create, OptixFunctionTable, optixProgramGroupCreate);
    FIELD(kr_optix_api, group_destroy, OptixFunctionTable, optixProgramGroupDestroy);
    FIELD(kr_optix_api, group_stack, OptixFunctionTable, optixProgramGroupGetStackSize);
    FIELD(kr_optix_api, pipeline_create, OptixFunctionTable, optixPipelineCreate);
    FIELD(kr_optix_api, pipeline_destroy, OptixFunctionTable, optixPipelineDestroy);
    FIELD(kr_optix_api, pipeline_stack, OptixFunctionTable, optixPipelineSetStackSize);
    FIELD(kr_optix_api, accel_sizes, OptixFunctionTable, optixAccelComputeMemoryUsage);
    FIELD(kr_optix_api, accel_build, OptixFunctionTable, optixAccelBuild);
    FIELD(kr_optix_api, accel_compact, OptixFunctionTable, optixAccelCompact);
    FIELD(kr_optix_api, record_header, OptixFunctionTable, optixSbtRecordPackHeader);
    FIELD(kr_optix_api, launch, OptixFunctionTable, optixLaunch);
}

int main(void)
{
    compare_constants();
    compare_inputs();
    compare_builds();
    compare_modules();
    compare_groups();
    compare_functions();
    printf("%d sizes, places and constants compared, %d differ\n", compared, wrong);
    return wrong != 0;
}

#else

int main(void)
{
    printf("skip: this build has no headers of OptiX (-DOptiX_ROOT=FOLDER)\n");
    return 77;
}

#endif
