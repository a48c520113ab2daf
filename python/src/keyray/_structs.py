"""The structs, numbers and functions of keyray's headers.

Made by python/generate.py from include/keyray/*.h: change those, and run it.
"""
import ctypes
from ctypes import (POINTER, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint8, c_uint32,
                    c_uint64, c_void_p)

KR_VERSION_MAJOR = 0
KR_VERSION_MINOR = 1
KR_VERSION_PATCH = 0
KR_VERSION_STRING = "0.1.0"
KR_NO_ROW = 0xFFFFFFFF
KR_OK = 0
KR_ERR_ARGUMENT = 10
KR_ERR_TYPE = 11
KR_ERR_SPEC = 12
KR_ERR_LIMIT = 13
KR_ERR_UNSUPPORTED = 20
KR_ERR_NO_DEVICE = 21
KR_ERR_HOST_MEMORY = 30
KR_ERR_DEVICE_MEMORY = 31
KR_ERR_DEVICE = 40
KR_ERR_DEVICE_LOST = 41
KR_ERR_IO = 50
KR_ERR_FORMAT = 51
KR_ERR_INVARIANT = 60
KR_ERR_CANCELLED = 70
KR_ERR_INTERNAL = 90
KR_U8 = 1
KR_I8 = 2
KR_U16 = 3
KR_I16 = 4
KR_U32 = 5
KR_I32 = 6
KR_U64 = 7
KR_I64 = 8
KR_F32 = 9
KR_F64 = 10
KR_DATE32 = 11
KR_TIMESTAMP64 = 12
KR_STRING = 13
KR_LARGE_STRING = 14
KR_STRING_VIEW = 15
KR_BINARY = 16
KR_LARGE_BINARY = 17
KR_BINARY_VIEW = 18
KR_UNIT_NONE = 0
KR_UNIT_S = 1
KR_UNIT_MS = 2
KR_UNIT_US = 3
KR_UNIT_NS = 4
KR_SPEC_NBYTES = 512
KR_CAN_POINT = 1
KR_CAN_RANGE = 2
KR_CAN_UPDATE = 4
KR_CAN_SET_KEYS = 8
KR_CAN_SCAN = 16
KR_CAN_NEAREST = 32
KR_OPTION_CHOICE = 1
KR_OPTION_INTEGER = 2
KR_OPTION_TRIPLE = 3
KR_OPTION_PAIR = 4
KR_OPTION_DECIMAL = 5
KR_OPTION_TEXT = 6
KR_OP_POINT = 1
KR_OP_RANGE = 2
KR_OP_BUILD = 3
KR_OP_JOIN = 4
KR_RESULT_ROW = 1
KR_RESULT_COUNT = 2
KR_RESULT_SUM_ROWS = 3
KR_RESULT_SUM = 4
KR_RESULT_MIN = 5
KR_RESULT_MAX = 6
KR_RESULT_ROWS = 7
KR_RESULT_EXISTS = 8
KR_RESULT_SUM_WIDE = 9
KR_ORDER_ROW = 0
KR_ORDER_KEY = 1
KR_NEAREST_BELOW = 1
KR_NEAREST_ABOVE = 2
KR_NEAREST_EITHER = 3
KR_TEXTS_FROM = 1
KR_TEXTS_ABOVE = 2
KR_TEXTS_TO = 3
KR_TEXTS_BELOW = 4
KR_TEXTS_PREFIX = 5
KR_LESS = 1
KR_LESS_EQUAL = 2
KR_GREATER = 3
KR_GREATER_EQUAL = 4
KR_EQUAL = 5
KR_NOT_EQUAL = 6
KR_BETWEEN = 7
KR_IN = 8
KR_IS_NULL = 9
KR_LIKE = 10
KR_COPY_AUTO = 0
KR_COPY_ALWAYS = 1
KR_COPY_NEVER = 2
KR_SCAN_BITMAP = 1
KR_SCAN_ROWS = 2
KR_SCAN_COUNT = 3
KR_SCAN_SUM = 4
KR_SCAN_MIN = 5
KR_SCAN_MAX = 6
KR_SCAN_SUM_WIDE = 7
KR_ADVICE_MEASURED = 1
KR_ADVICE_SLOWER = 2
KR_ADVICE_LATE = 3
KR_ADVICE_OVER_CAP = 4
KR_ADVICE_FAILED = 5
KR_VALUE_NBYTES = 48
KR_JOIN_INNER = 1
KR_JOIN_SEMI = 2
KR_JOIN_ANTI = 3
KR_JOIN_LEFT = 4
KR_JOIN_RIGHT = 5
KR_JOIN_FULL = 6
KR_INVERSE_AUTO = 0
KR_INVERSE_ON = 1
KR_INVERSE_OFF = 2
KR_ENDS_CLOSED = 1
KR_ENDS_OPEN = 2
KR_VERIFY_ALL = 0
KR_VERIFY_HEADER = 1
KR_SAVED_INDEX = 1
KR_SAVED_TABLE = 2

# ---- Callbacks and structs ----

kr_rows_chunk = ctypes.CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint64, c_void_p, c_void_p)
kr_next_piece = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p)
kr_pairs_chunk = ctypes.CFUNCTYPE(c_int, c_void_p, c_uint64, c_void_p, c_void_p)


class kr_error(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("status", c_int), ("vendor_code", c_int32), ("vendor_call", c_char * 64), ("text", c_char * 512),
        ("reserved", c_uint64 * 4)]


class kr_progress(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("call", ctypes.CFUNCTYPE(c_int, c_void_p, c_char_p, c_double)), ("ctx", c_void_p),
        ("reserved", c_uint64 * 2)]


class kr_text_buffer(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("data", c_void_p), ("nbytes", c_uint64)]


class kr_column(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("type", c_int), ("reserved", c_uint32), ("count", c_uint64), ("data", c_void_p),
        ("validity", c_void_p), ("validity_offset", c_uint64), ("dictionary", c_uint64),
        ("reserved_words", c_uint64 * 2)]


class kr_kind_info(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("summary", c_char_p), ("source", c_char_p),
        ("capabilities", c_uint32), ("option_count", c_uint32)]


class kr_option_info(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("help", c_char_p), ("choices", c_char_p),
        ("form", c_int), ("is_common", c_uint32), ("minimum", c_double), ("maximum", c_double),
        ("standard", c_char * 32), ("values", c_char * 128)]


class kr_estimate(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("footprint_nbytes", c_uint64), ("peak_nbytes", c_uint64)]


class kr_explanation(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("spec", c_char * KR_SPEC_NBYTES), ("device", c_char * 16),
        ("tracer", c_char * 64), ("reason", c_char * 256), ("probe_order", c_char * 96),
        ("footprint_nbytes", c_uint64), ("peak_nbytes", c_uint64), ("memory_accesses_per_probe", c_double),
        ("rays_per_probe", c_double)]


class kr_index_info(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("spec", c_char * KR_SPEC_NBYTES), ("device", c_char * 16),
        ("tracer", c_char * 64), ("type", c_int), ("n_columns", c_uint32), ("rows", c_uint64), ("next_row", c_uint64),
        ("footprint_nbytes", c_uint64), ("peak_nbytes", c_uint64)]


class kr_sink(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("result", c_int), ("order", c_uint32), ("values", POINTER(kr_column)),
        ("out", c_void_p), ("valid", c_void_p), ("rows", c_void_p), ("rows_capacity", c_uint64), ("report", c_void_p),
        ("count_work", c_uint32), ("reserved", c_uint32), ("limit", c_uint64)]


class kr_nearest_options(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("side", c_int), ("strict", c_uint32), ("limited", c_uint32),
        ("reserved", c_uint32), ("tolerance", c_int64), ("float_tolerance", c_double)]


class kr_column_probes(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("columns", POINTER(kr_column)), ("n_columns", c_uint32),
        ("how", c_uint32), ("upper", POINTER(kr_column)), ("nearest", POINTER(kr_nearest_options))]


class kr_texts_info(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("spec", c_char * 32), ("device", c_char * 16), ("count", c_uint64),
        ("text_nbytes", c_uint64), ("dictionary", c_uint64), ("footprint_nbytes", c_uint64),
        ("peak_nbytes", c_uint64), ("seeds_given_up", c_uint64)]


class kr_table_options(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("copy", c_int), ("reserved", c_uint32),
        ("find_text", ctypes.CFUNCTYPE(c_int, c_void_p, c_uint32, c_char_p, c_size_t, c_void_p)), ("ctx", c_void_p),
        ("units", c_void_p), ("texts", c_void_p)]


class kr_table_info(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("spec", c_char * KR_SPEC_NBYTES), ("device", c_char * 16),
        ("tracer", c_char * 64), ("reason", c_char * 256), ("rows", c_uint64), ("alive_rows", c_uint64),
        ("columns", c_uint32), ("copied_columns", c_uint32), ("footprint_nbytes", c_uint64),
        ("peak_nbytes", c_uint64)]


class kr_scan_sink(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("result", c_int), ("column", c_uint32), ("out", c_void_p),
        ("valid", c_void_p), ("rows", c_void_p), ("rows_capacity", c_uint64)]


class kr_scan_options(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("alive", c_void_p), ("report", c_void_p), ("count_work", c_uint32),
        ("reserved", c_uint32)]


class kr_advise_options(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("probes", POINTER(kr_column)), ("lower", POINTER(kr_column)),
        ("upper", POINTER(kr_column)), ("operations", c_uint32), ("reserved", c_uint32), ("batch", c_uint64),
        ("range_hits", c_uint64), ("miss_percent", c_double), ("update_percent", c_double),
        ("memory_cap_nbytes", c_uint64), ("seconds", c_double), ("progress", kr_progress)]


class kr_advice_info(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("spec", c_char * KR_SPEC_NBYTES), ("device", c_char * 16),
        ("reason", c_char * 256), ("sample", c_char * 512), ("paid_against", c_char * KR_SPEC_NBYTES),
        ("candidates", c_uint32), ("operations", c_uint32), ("rows", c_uint64), ("measured_rows", c_uint64),
        ("batch", c_uint64), ("updated_rows", c_uint64), ("paid_lookups", c_uint64), ("hit_percent", c_double),
        ("range_hits", c_double), ("scan_seconds", c_double), ("seconds", c_double)]


class kr_advice_candidate(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("spec", c_char * KR_SPEC_NBYTES), ("state", c_int), ("status", c_int),
        ("note", c_char * 512), ("rows", c_uint64), ("lookup_seconds", c_double), ("points_per_second", c_double),
        ("ranges_per_second", c_double), ("scans_per_second", c_double), ("build_seconds", c_double),
        ("update_seconds", c_double), ("footprint_nbytes", c_uint64), ("peak_nbytes", c_uint64),
        ("paid_lookups", c_uint64), ("whole_lookup_seconds", c_double), ("whole_footprint_nbytes", c_uint64)]


class kr_device_options(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("threads", c_uint32), ("reserved", c_uint32),
        ("memory_cap_nbytes", c_uint64), ("allocate", ctypes.CFUNCTYPE(c_void_p, c_void_p, c_size_t, c_void_p)),
        ("release", ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_size_t, c_void_p)), ("allocator_ctx", c_void_p),
        ("progress", kr_progress)]


class kr_device_info(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("name", c_char * 16), ("description", c_char * 96),
        ("software", c_char * 96), ("tracer", c_char * 64), ("memory_nbytes", c_uint64), ("in_use_nbytes", c_uint64),
        ("peak_nbytes", c_uint64), ("units", c_uint32), ("rt_cores", c_int32), ("memory_cap_nbytes", c_uint64)]


class kr_file_options(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("nulls", c_char_p), ("texts", c_uint32), ("reserved", c_uint32)]


class kr_join_options(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("type", c_int), ("inverse", c_int), ("unordered", c_uint32),
        ("reserved", c_uint32), ("left_by", POINTER(kr_column)), ("right_by", POINTER(kr_column)), ("n_by", c_uint32),
        ("reserved_by", c_uint32)]


class kr_join_info(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("spec", c_char * KR_SPEC_NBYTES), ("device", c_char * 16),
        ("tracer", c_char * 64), ("indexed", c_char * 8), ("pairs", c_uint64), ("footprint_nbytes", c_uint64),
        ("peak_nbytes", c_uint64), ("cost_left", c_double), ("cost_right", c_double)]


class kr_attachment(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("name", c_char_p), ("data", c_void_p), ("nbytes", c_uint64)]


class kr_save_options(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("attachments", POINTER(kr_attachment)), ("n_attachments", c_uint32),
        ("reserved", c_uint32)]


class kr_saved_options(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("verify", c_int), ("n_dictionaries", c_uint32),
        ("dictionaries", c_void_p), ("progress", POINTER(kr_progress))]


class kr_saved_info(ctypes.Structure):
    __slots__ = ()
    _fields_ = [("struct_size", c_size_t), ("what", c_int), ("format", c_uint32), ("version", c_char * 32),
        ("spec", c_char * KR_SPEC_NBYTES), ("rows", c_uint64), ("next_row", c_uint64), ("nbytes", c_uint64),
        ("n_columns", c_uint32), ("n_attachments", c_uint32)]


# ---- Functions: the type of the result, and those of the arguments ----

FUNCTIONS = {
    "kr_version": (c_char_p, []),
    "kr_build_commit": (c_char_p, []),
    "kr_status_name": (c_char_p, [c_int]),
    "kr_type_nbytes": (c_uint32, [c_int]),
    "kr_type_name": (c_char_p, [c_int]),
    "kr_kind_count": (c_uint32, []),
    "kr_kind_query": (c_int, [c_uint32, POINTER(kr_kind_info), POINTER(kr_error)]),
    "kr_option_query": (c_int, [c_uint32, c_uint32, POINTER(kr_option_info), POINTER(kr_error)]),
    "kr_spec_complete": (c_int, [c_char_p, c_char_p, c_size_t, POINTER(kr_error)]),
    "kr_spec_shorten": (c_int, [c_char_p, c_char_p, c_size_t, POINTER(kr_error)]),
    "kr_index_estimate": (c_int, [c_void_p, c_char_p, POINTER(kr_column), POINTER(kr_estimate), POINTER(kr_error)]),
    "kr_index_explain": (c_int, [c_void_p, c_int, c_char_p, POINTER(kr_column), c_uint64, POINTER(kr_explanation),
        POINTER(kr_error)]),
    "kr_index_create": (c_int, [c_void_p, c_char_p, POINTER(kr_column), c_void_p, c_void_p, c_void_p,
        POINTER(kr_error)]),
    "kr_index_create_columns": (c_int, [c_void_p, c_char_p, POINTER(kr_column), c_uint32, c_void_p, c_void_p,
        c_void_p, POINTER(kr_error)]),
    "kr_index_destroy": (None, [c_void_p]),
    "kr_index_query": (c_int, [c_void_p, POINTER(kr_index_info), POINTER(kr_error)]),
    "kr_index_phase_count": (c_uint32, [c_void_p]),
    "kr_index_phase_name": (c_char_p, [c_void_p, c_uint32]),
    "kr_index_phase_seconds": (c_double, [c_void_p, c_uint32]),
    "kr_index_component_count": (c_uint32, [c_void_p]),
    "kr_index_component_name": (c_char_p, [c_void_p, c_uint32]),
    "kr_index_component_nbytes": (c_uint64, [c_void_p, c_uint32]),
    "kr_index_counter_count": (c_uint32, [c_void_p]),
    "kr_index_counter_name": (c_char_p, [c_void_p, c_uint32]),
    "kr_index_counter_value": (c_uint64, [c_void_p, c_uint32]),
    "kr_index_validate": (c_int, [c_void_p, POINTER(kr_error)]),
    "kr_index_set_keys": (c_int, [c_void_p, c_void_p, POINTER(kr_column), c_void_p, POINTER(kr_error)]),
    "kr_index_update": (c_int, [c_void_p, POINTER(kr_column), c_void_p, POINTER(kr_column), c_void_p,
        POINTER(kr_error)]),
    "kr_index_update_columns": (c_int, [c_void_p, POINTER(kr_column), c_void_p, POINTER(kr_column), c_void_p,
        POINTER(kr_error)]),
    "kr_index_next_version": (c_int, [c_void_p, POINTER(kr_column), c_void_p, POINTER(kr_column), c_void_p, c_void_p,
        POINTER(kr_error)]),
    "kr_index_next_version_columns": (c_int, [c_void_p, POINTER(kr_column), c_void_p, POINTER(kr_column), c_void_p,
        c_void_p, POINTER(kr_error)]),
    "kr_report_create": (c_int, [c_void_p, POINTER(kr_error)]),
    "kr_report_destroy": (None, [c_void_p]),
    "kr_report_probe_count": (c_uint64, [c_void_p]),
    "kr_report_order_count": (c_uint32, [c_void_p]),
    "kr_report_order_name": (c_char_p, [c_void_p, c_uint32]),
    "kr_report_order_probes": (c_uint64, [c_void_p, c_uint32]),
    "kr_report_step_count": (c_uint32, [c_void_p]),
    "kr_report_step_text": (c_char_p, [c_void_p, c_uint32]),
    "kr_report_phase_count": (c_uint32, [c_void_p]),
    "kr_report_phase_name": (c_char_p, [c_void_p, c_uint32]),
    "kr_report_phase_seconds": (c_double, [c_void_p, c_uint32]),
    "kr_report_counter_count": (c_uint32, [c_void_p]),
    "kr_report_counter_name": (c_char_p, [c_void_p, c_uint32]),
    "kr_report_counter_value": (c_uint64, [c_void_p, c_uint32]),
    "kr_index_lookup": (c_int, [c_void_p, POINTER(kr_column), POINTER(kr_sink), c_void_p, POINTER(kr_error)]),
    "kr_index_range": (c_int, [c_void_p, POINTER(kr_column), POINTER(kr_column), POINTER(kr_sink), c_void_p,
        POINTER(kr_error)]),
    "kr_index_nearest": (c_int, [c_void_p, POINTER(kr_column), POINTER(kr_nearest_options), POINTER(kr_sink),
        c_void_p, POINTER(kr_error)]),
    "kr_index_lookup_columns": (c_int, [c_void_p, POINTER(kr_column_probes), POINTER(kr_sink), c_void_p,
        POINTER(kr_error)]),
    "kr_index_lookup_many": (c_int, [c_void_p, POINTER(kr_column), POINTER(kr_column), POINTER(kr_nearest_options),
        c_void_p, c_uint32, c_void_p, POINTER(kr_error)]),
    "kr_index_lookup_chunks": (c_int, [c_void_p, POINTER(kr_column), POINTER(kr_column), c_uint32, c_uint64,
        kr_rows_chunk, c_void_p, POINTER(kr_error)]),
    "kr_texts_create": (c_int, [c_void_p, POINTER(kr_column), c_char_p, c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_texts_encode": (c_int, [c_void_p, POINTER(kr_column), c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_texts_bounds": (c_int, [c_void_p, POINTER(kr_column), c_int, c_void_p, c_void_p, c_void_p,
        POINTER(kr_error)]),
    "kr_texts_decode": (c_int, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_uint64, c_void_p,
        POINTER(kr_error)]),
    "kr_texts_query": (c_int, [c_void_p, POINTER(kr_texts_info), POINTER(kr_error)]),
    "kr_index_texts": (c_void_p, [c_void_p]),
    "kr_index_set_texts": (c_int, [c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_index_lookup_texts": (c_int, [c_void_p, POINTER(kr_column), c_int, POINTER(kr_sink), c_void_p,
        POINTER(kr_error)]),
    "kr_texts_destroy": (None, [c_void_p]),
    "kr_condition_parse": (c_int, [c_char_p, c_void_p, POINTER(kr_error)]),
    "kr_condition_compare": (c_int, [c_char_p, c_int, POINTER(kr_column), c_void_p, POINTER(kr_error)]),
    "kr_condition_compare_columns": (c_int, [c_char_p, c_int, c_char_p, c_void_p, POINTER(kr_error)]),
    "kr_condition_and": (c_int, [c_void_p, c_uint32, c_void_p, POINTER(kr_error)]),
    "kr_condition_or": (c_int, [c_void_p, c_uint32, c_void_p, POINTER(kr_error)]),
    "kr_condition_not": (c_int, [c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_condition_destroy": (None, [c_void_p]),
    "kr_table_create": (c_int, [c_void_p, c_char_p, POINTER(kr_column), c_void_p, c_uint32, POINTER(kr_table_options),
        c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_table_destroy": (None, [c_void_p]),
    "kr_table_estimate": (c_int, [c_void_p, c_char_p, POINTER(kr_column), c_uint32, POINTER(kr_table_options),
        POINTER(kr_estimate), POINTER(kr_error)]),
    "kr_table_query": (c_int, [c_void_p, POINTER(kr_table_info), POINTER(kr_error)]),
    "kr_table_texts": (c_void_p, [c_void_p, c_uint32]),
    "kr_table_column": (c_int, [c_void_p, c_uint32, c_void_p, c_void_p, POINTER(kr_column), POINTER(kr_error)]),
    "kr_table_validate": (c_int, [c_void_p, POINTER(kr_error)]),
    "kr_table_append": (c_int, [c_void_p, POINTER(kr_column), c_uint32, c_void_p, POINTER(kr_error)]),
    "kr_table_delete": (c_int, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_table_delete_where": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_table_next_append": (c_int, [c_void_p, POINTER(kr_column), c_uint32, c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_table_next_delete": (c_int, [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_table_next_delete_where": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_table_phase_count": (c_uint32, [c_void_p]),
    "kr_table_phase_name": (c_char_p, [c_void_p, c_uint32]),
    "kr_table_phase_seconds": (c_double, [c_void_p, c_uint32]),
    "kr_table_component_count": (c_uint32, [c_void_p]),
    "kr_table_component_name": (c_char_p, [c_void_p, c_uint32]),
    "kr_table_component_nbytes": (c_uint64, [c_void_p, c_uint32]),
    "kr_table_counter_count": (c_uint32, [c_void_p]),
    "kr_table_counter_name": (c_char_p, [c_void_p, c_uint32]),
    "kr_table_counter_value": (c_uint64, [c_void_p, c_uint32]),
    "kr_scan": (c_int, [c_void_p, c_void_p, c_void_p, c_uint32, POINTER(kr_scan_options), c_void_p,
        POINTER(kr_error)]),
    "kr_scan_explain": (c_int, [c_void_p, c_void_p, c_char_p, c_size_t, POINTER(kr_error)]),
    "kr_advise": (c_int, [c_void_p, POINTER(kr_column), POINTER(kr_advise_options), c_void_p, POINTER(kr_error)]),
    "kr_advise_table": (c_int, [c_void_p, POINTER(kr_column), c_void_p, c_uint32, POINTER(kr_table_options), c_void_p,
        c_uint32, POINTER(kr_advise_options), c_void_p, POINTER(kr_error)]),
    "kr_advice_query": (c_int, [c_void_p, POINTER(kr_advice_info), POINTER(kr_error)]),
    "kr_advice_candidate_query": (c_int, [c_void_p, c_uint32, POINTER(kr_advice_candidate), POINTER(kr_error)]),
    "kr_advice_destroy": (None, [c_void_p]),
    "kr_device_open": (c_int, [c_char_p, POINTER(kr_device_options), c_void_p, POINTER(kr_error)]),
    "kr_device_close": (None, [c_void_p]),
    "kr_device_query": (c_int, [c_void_p, POINTER(kr_device_info), POINTER(kr_error)]),
    "kr_device_count": (c_uint32, []),
    "kr_device_describe": (c_int, [c_uint32, POINTER(kr_device_info), POINTER(kr_error)]),
    "kr_device_sync": (c_int, [c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_stream_create": (c_int, [c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_stream_destroy": (None, [c_void_p]),
    "kr_memory_allocate": (c_int, [c_void_p, c_uint64, c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_memory_release": (None, [c_void_p, c_void_p, c_uint64, c_void_p]),
    "kr_memory_pin": (c_int, [c_void_p, c_void_p, c_uint64, POINTER(kr_error)]),
    "kr_memory_unpin": (None, [c_void_p, c_void_p]),
    "kr_memory_copy": (c_int, [c_void_p, c_void_p, c_void_p, c_uint64, c_void_p, POINTER(kr_error)]),
    "kr_file_read": (c_int, [c_char_p, POINTER(kr_file_options), POINTER(kr_progress), c_void_p, POINTER(kr_error)]),
    "kr_file_path_nbytes": (c_size_t, [c_char_p]),
    "kr_file_column": (POINTER(kr_column), [c_void_p]),
    "kr_file_unit": (c_int, [c_void_p]),
    "kr_file_string": (c_char_p, [c_void_p, c_uint32, c_void_p]),
    "kr_file_is_text": (c_int, [c_void_p]),
    "kr_file_close": (None, [c_void_p]),
    "kr_file_convert": (c_int, [c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_file_literals": (c_int, [c_char_p, c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_file_empty": (c_int, [c_char_p, c_int, c_int, c_char_p, c_void_p, c_uint32, c_void_p, POINTER(kr_error)]),
    "kr_value_text": (c_uint32, [c_int, c_int, c_void_p, c_char_p]),
    "kr_file_write": (c_int, [c_char_p, c_int, c_uint64, c_uint32, c_void_p, POINTER(kr_progress),
        POINTER(kr_error)]),
    "kr_output_create": (c_int, [c_void_p, POINTER(kr_error)]),
    "kr_output_add_column": (c_int, [c_void_p, c_char_p, c_int, c_uint64, c_uint32, c_void_p, POINTER(kr_progress),
        POINTER(kr_error)]),
    "kr_output_add_bytes": (c_int, [c_void_p, c_char_p, c_void_p, c_uint64, POINTER(kr_progress), POINTER(kr_error)]),
    "kr_output_add_pieces": (c_int, [c_void_p, c_char_p, kr_next_piece, c_void_p, POINTER(kr_progress),
        POINTER(kr_error)]),
    "kr_output_commit": (c_int, [c_void_p, POINTER(kr_error)]),
    "kr_output_destroy": (None, [c_void_p]),
    "kr_join_create": (c_int, [c_void_p, c_char_p, POINTER(kr_column), POINTER(kr_column), POINTER(kr_join_options),
        c_void_p, POINTER(kr_error)]),
    "kr_join_chunks": (c_int, [c_void_p, c_char_p, POINTER(kr_column), POINTER(kr_column), POINTER(kr_column),
        POINTER(kr_join_options), c_uint64, kr_pairs_chunk, c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_join_create_columns": (c_int, [c_void_p, c_char_p, POINTER(kr_column), POINTER(kr_column), c_uint32,
        POINTER(kr_join_options), c_void_p, POINTER(kr_error)]),
    "kr_join_create_range": (c_int, [c_void_p, c_char_p, POINTER(kr_column), POINTER(kr_column), POINTER(kr_column),
        POINTER(kr_join_options), c_void_p, POINTER(kr_error)]),
    "kr_join_create_prepared": (c_int, [c_void_p, POINTER(kr_column), POINTER(kr_column), POINTER(kr_join_options),
        c_void_p, POINTER(kr_error)]),
    "kr_join_create_asof": (c_int, [c_void_p, c_char_p, POINTER(kr_column), POINTER(kr_column), POINTER(kr_column),
        POINTER(kr_column), c_uint32, POINTER(kr_nearest_options), POINTER(kr_join_options), c_void_p,
        POINTER(kr_error)]),
    "kr_join_create_overlap": (c_int, [c_void_p, c_char_p, POINTER(kr_column), POINTER(kr_column), POINTER(kr_column),
        POINTER(kr_column), c_int, POINTER(kr_join_options), c_void_p, POINTER(kr_error)]),
    "kr_join_overlap_chunks": (c_int, [c_void_p, c_char_p, POINTER(kr_column), POINTER(kr_column), POINTER(kr_column),
        POINTER(kr_column), c_int, c_uint64, kr_pairs_chunk, c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_join_sums": (c_int, [c_void_p, c_char_p, POINTER(kr_column), POINTER(kr_column), POINTER(kr_join_options),
        POINTER(kr_sink), POINTER(kr_join_info), POINTER(kr_error)]),
    "kr_join_destroy": (None, [c_void_p]),
    "kr_join_explain": (c_int, [c_void_p, c_char_p, c_uint64, c_uint64, POINTER(kr_join_options),
        POINTER(kr_join_info), POINTER(kr_error)]),
    "kr_join_query": (c_int, [c_void_p, POINTER(kr_join_info), POINTER(kr_error)]),
    "kr_join_phase_count": (c_uint32, [c_void_p]),
    "kr_join_phase_name": (c_char_p, [c_void_p, c_uint32]),
    "kr_join_phase_seconds": (c_double, [c_void_p, c_uint32]),
    "kr_join_read": (c_int, [c_void_p, c_uint64, c_uint64, c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_prepare_lookup": (c_int, [c_void_p, POINTER(kr_column), POINTER(kr_sink), c_void_p, POINTER(kr_error)]),
    "kr_prepare_range": (c_int, [c_void_p, POINTER(kr_column), POINTER(kr_column), POINTER(kr_sink), c_void_p,
        POINTER(kr_error)]),
    "kr_prepare_nearest": (c_int, [c_void_p, POINTER(kr_column), POINTER(kr_nearest_options), POINTER(kr_sink),
        c_void_p, POINTER(kr_error)]),
    "kr_prepare_lookup_columns": (c_int, [c_void_p, POINTER(kr_column_probes), POINTER(kr_sink), c_void_p,
        POINTER(kr_error)]),
    "kr_prepare_texts": (c_int, [c_void_p, POINTER(kr_column), c_int, POINTER(kr_sink), c_void_p, POINTER(kr_error)]),
    "kr_prepare_scan": (c_int, [c_void_p, c_void_p, c_void_p, c_uint32, POINTER(kr_scan_options), c_void_p,
        POINTER(kr_error)]),
    "kr_prepared_run": (c_int, [c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_prepared_is_recorded": (c_int, [c_void_p]),
    "kr_prepared_scratch_nbytes": (c_uint64, [c_void_p]),
    "kr_prepared_rebind": (c_int, [c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_prepared_rebind_table": (c_int, [c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_prepared_destroy": (None, [c_void_p]),
    "kr_index_save": (c_int, [c_void_p, c_char_p, POINTER(kr_save_options), POINTER(kr_progress), POINTER(kr_error)]),
    "kr_table_save": (c_int, [c_void_p, c_char_p, POINTER(kr_save_options), POINTER(kr_progress), POINTER(kr_error)]),
    "kr_index_pieces": (c_int, [c_void_p, POINTER(kr_save_options), c_void_p, POINTER(kr_error)]),
    "kr_table_pieces": (c_int, [c_void_p, POINTER(kr_save_options), c_void_p, POINTER(kr_error)]),
    "kr_pieces_next": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_pieces_nbytes": (c_uint64, [c_void_p]),
    "kr_pieces_destroy": (None, [c_void_p]),
    "kr_saved_open": (c_int, [c_char_p, POINTER(kr_saved_options), c_void_p, POINTER(kr_error)]),
    "kr_saved_open_memory": (c_int, [c_void_p, c_uint64, POINTER(kr_saved_options), c_void_p, POINTER(kr_error)]),
    "kr_saved_query": (c_int, [c_void_p, POINTER(kr_saved_info), POINTER(kr_error)]),
    "kr_saved_column": (c_int, [c_void_p, c_uint32, c_void_p, c_void_p, c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_saved_attachment_name": (c_char_p, [c_void_p, c_uint32]),
    "kr_saved_attachment": (c_void_p, [c_void_p, c_char_p, c_void_p]),
    "kr_saved_check": (c_int, [c_void_p, POINTER(kr_error)]),
    "kr_index_load": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_table_load": (c_int, [c_void_p, c_void_p, POINTER(kr_table_options), c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_saved_close": (None, [c_void_p]),
    "kr_stream_wrap_cuda": (c_int, [c_void_p, c_void_p, c_void_p, POINTER(kr_error)]),
    "kr_stream_get_cuda": (c_int, [c_void_p, c_void_p, c_void_p, POINTER(kr_error)]),
}

STRUCTS = [kr_error, kr_progress, kr_text_buffer, kr_column, kr_kind_info, kr_option_info, kr_estimate,
    kr_explanation, kr_index_info, kr_sink, kr_nearest_options, kr_column_probes, kr_texts_info, kr_table_options,
    kr_table_info, kr_scan_sink, kr_scan_options, kr_advise_options, kr_advice_info, kr_advice_candidate,
    kr_device_options, kr_device_info, kr_file_options, kr_join_options, kr_join_info, kr_attachment, kr_save_options,
    kr_saved_options, kr_saved_info]
