#include "index/lookup/nearest.h"
#include "base/util/structs.h"

#include <math.h>

static kr_status check_words(const kr_nearest_options *options, kr_error *err)
{
    if ((unsigned)options->side > KR_NEAREST_EITHER)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_nearest_options.side is %d, which is unknown; use kr_nearest_side",
                       (int)options->side);
    if (options->strict > 1 || options->limited > 1 || options->reserved)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_nearest_options.%s must be 0%s; zero the struct first",
                       options->strict > 1    ? "strict"
                       : options->limited > 1 ? "limited"
                                              : "reserved",
                       options->reserved ? "" : " or 1");
    return KR_OK;
}

static kr_status check_tolerance(kr_type type, const kr_nearest_options *options, kr_error *err)
{
    const int is_float = type == KR_F32 || type == KR_F64;
    const uint32_t bits = kr_type_significant_bits(type);
    const char *field = is_float ? "float_tolerance" : "tolerance";
    if (is_float ? options->tolerance != 0 : options->float_tolerance != 0)
        return kr_fail(err, KR_ERR_ARGUMENT, "keys are %s: give kr_nearest_options.%s, not %s",
                       kr_type_name(type), field, is_float ? "tolerance" : "float_tolerance");
    if (!options->limited && (options->tolerance || options->float_tolerance != 0))
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_nearest_options.%s needs limited=1", field);
    if (options->tolerance < 0)
        return kr_fail(err, KR_ERR_ARGUMENT, "kr_nearest_options.tolerance is %lld: a distance is 0 or more",
                       (long long)options->tolerance);
    if (isnan(options->float_tolerance) || options->float_tolerance < 0)
        return kr_fail(err, KR_ERR_ARGUMENT,
                       "kr_nearest_options.float_tolerance is %g: a distance is 0 or more",
                       options->float_tolerance);
    if (bits < 64 && (uint64_t)options->tolerance >> bits)
        return kr_fail(
            err, KR_ERR_LIMIT,
            "a tolerance of %lld: no two values of type %s are more than %llu apart; set limited=0",
            (long long)options->tolerance, kr_type_name(type), (unsigned long long)((uint64_t)1 << bits) - 1);
    return KR_OK;
}

static kr_status check_texts(const kr_nearest_options *options, kr_error *err)
{
    if (options->side != KR_NEAREST_EITHER && !options->limited)
        return KR_OK;
    return kr_fail(err, KR_ERR_UNSUPPORTED,
                   "texts have an order, but no distances from each other: kr_nearest_options.%s",
                   options->limited
                       ? "tolerance does not work for them; set limited to 0, or give times as numbers"
                       : "side is KR_NEAREST_BELOW or KR_NEAREST_ABOVE for them, not KR_NEAREST_EITHER");
}

kr_status kr_nearby_make(kr_type type, int are_texts, const kr_nearest_options *options, kr_nearby *near,
                         kr_error *err)
{
    static const uint32_t sides[] = {KR_NEAR_BELOW, KR_NEAR_BELOW, KR_NEAR_ABOVE,
                                     KR_NEAR_BELOW | KR_NEAR_ABOVE};
    const int is_float = type == KR_F32 || type == KR_F64;
    kr_nearest_options given = {0};
    kr_status status = options ? kr_struct_read(&kr_struct_nearest_options, options, &given, err) : KR_OK;
    if (status == KR_OK)
        status = check_words(&given, err);
    if (status == KR_OK && are_texts)
        status = check_texts(&given, err);
    if (status == KR_OK)
        status = check_tolerance(type, &given, err);
    if (status != KR_OK)
        return status;
    *near = (kr_nearby){
        .tolerance = is_float ? kr_bits_of_f64(given.float_tolerance + 0.0) : (uint64_t)given.tolerance,
        .how =
            sides[given.side] | (given.strict ? KR_NEAR_STRICT : 0) | (given.limited ? KR_NEAR_LIMITED : 0),
        .type = (uint16_t)type,
    };
    return KR_OK;
}
