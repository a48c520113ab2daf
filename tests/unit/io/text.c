#include "files.h"

static void types_are_found_in_the_text(void **state)
{
    (void)state;
    put_text("a.csv", "i,d,t,m,n\n1,1.5,1995-03-15,1,\n-9223372036854775808,-2e3,1970-01-01,2.5,\n"
                      "9223372036854775807,7,1969-12-31,9007199254740993,\n");
    must_hold("a.csv:i", KR_I64, 3, (const int64_t[]){1, INT64_MIN, INT64_MAX});
    must_hold("a.csv:d", KR_F64, 3, (const double[]){1.5, -2000, 7});
    must_hold("a.csv:t", KR_DATE32, 3, (const int32_t[]){9204, 0, -1});
    must_hold("a.csv:m", KR_F64, 3, (const double[]){1, 2.5, 9007199254740992});
    kr_file *file = must_read("a.csv:n");
    const kr_column *column = kr_file_column(file);
    assert_int_equal(column->type, KR_I64);
    assert_int_equal(column->count, 3);
    for (uint64_t i = 0; i < 3; i++)
        assert_false(is_valid(column, i));
    kr_file_close(file);
}

static void given_types_are_obeyed(void **state)
{
    (void)state;
    put_text("a.csv", "x\n1\n2\n");
    must_hold("a.csv:x:u8", KR_U8, 2, (const uint8_t[]){1, 2});
    must_hold("a.csv:x:i8", KR_I8, 2, (const int8_t[]){1, 2});
    must_hold("a.csv:x:u16", KR_U16, 2, (const uint16_t[]){1, 2});
    must_hold("a.csv:x:i16", KR_I16, 2, (const int16_t[]){1, 2});
    must_hold("a.csv:x:u32", KR_U32, 2, (const uint32_t[]){1, 2});
    must_hold("a.csv:x:i32", KR_I32, 2, (const int32_t[]){1, 2});
    must_hold("a.csv:x:u64", KR_U64, 2, (const uint64_t[]){1, 2});
    must_hold("a.csv:x:i64", KR_I64, 2, (const int64_t[]){1, 2});
    must_hold("a.csv:x:f32", KR_F32, 2, (const float[]){1, 2});
    must_hold("a.csv:x:f64", KR_F64, 2, (const double[]){1, 2});
    must_hold("a.csv:x:timestamp64", KR_TIMESTAMP64, 2, (const int64_t[]){1, 2});
    put_text("a.csv", "x\n18446744073709551615\n");
    must_hold("a.csv:x:u64", KR_U64, 1, (const uint64_t[]){UINT64_MAX});
    put_text("a.csv", "x\n1970-01-01 00:00:01\n");
    must_hold("a.csv:x:timestamp64", KR_TIMESTAMP64, 1, (const int64_t[]){1000000});
}

static void large_integers(void **state)
{
    (void)state;
    const double wanted[] = {1, 18446744073709551616.0, 0.5};
    put_text("a.csv", "x\n1\n18446744073709551616\n0.5\n");
    must_hold("a.csv:x", KR_F64, 3, wanted);
    put_text("a.csv", "x\n0.5\n18446744073709551616\n");
    must_hold("a.csv:x", KR_F64, 2, (const double[]){0.5, 18446744073709551616.0});
    put_text("a.csv", "x\n18446744073709551616\n1\n0.5\n");
    must_hold("a.csv:x", KR_F64, 3, (const double[]){18446744073709551616.0, 1, 0.5});
    put_text("a.csv", "x\n1\n9223372036854775808\n3\n9223372036854775809\n");
    must_fail("a.csv:x", KR_ERR_FORMAT, "a.csv:3:\tcolumn 'x'\t9223372036854775808\t:u64");
    put_text("a.csv", "x\n-9223372036854775809");
    must_fail("a.csv:x", KR_ERR_FORMAT, "a.csv:2:\tcolumn 'x'\t-9223372036854775809");
    put_text("a.csv", "x\n9223372036854775808\n1995-03-15\n");
    must_fail("a.csv:x", KR_ERR_FORMAT, "a.csv:3:\tmixes dates and numbers");
}

static void values_that_do_not_fit(void **state)
{
    (void)state;
    put_text("a.csv", "a,x\n1,2\n1,300\n");
    must_fail("a.csv:x:u8", KR_ERR_FORMAT, "a.csv:3:\tcolumn 'x'\t'300'\tout of range\tu8\t0 to 255");
    must_fail("a.csv:x:date32", KR_ERR_FORMAT, "a.csv:2:\tcolumn 'x'\t'2'\tdate32");
    put_text("a.csv", "x\n1\nabc\n");
    must_fail("a.csv:x", KR_ERR_FORMAT, "a.csv:3:\tcolumn 'x'\t'abc'\t:str");
    must_fail("a.csv:x:i32", KR_ERR_FORMAT, "a.csv:3:\tcolumn 'x'\t'abc'\ti32");
    put_text("a.csv", "x\n1\n1995-03-15\n");
    must_fail("a.csv:x", KR_ERR_FORMAT, "a.csv:3:\tmixes dates and numbers\t1995-03-15");
    put_text("a.csv", "x\n1995-03-15\n1.5\n");
    must_fail("a.csv:x", KR_ERR_FORMAT, "a.csv:3:\tmixes dates and numbers\t1.5");
    put_text("a.csv", "x\n1995-02-29\n");
    must_fail("a.csv:x", KR_ERR_FORMAT, "a.csv:2:\t1995-02-29\tout of range\tdate32");
    put_text("a.csv", "x\n0.5\n1e999\n");
    must_fail("a.csv:x", KR_ERR_FORMAT, "a.csv:3:\t1e999\tout of range\tf64");
    put_text("a.csv", "x\n1\n2 \n");
    must_fail("a.csv:x", KR_ERR_FORMAT, "a.csv:3:\t'2 '");
    put_text("a.csv", "x\n0\n\"1\n2\"\n");
    must_fail("a.csv:x", KR_ERR_FORMAT, "a.csv:3:\t'1?2'");
}

/* The first field that is not NULL decides; what was meant as NULL or as a date does not. */
static void texts_without_a_type(void **state)
{
    (void)state;
    put_text("a.csv", "k,x\n1,\n2,fig\n3,7\n4,ant\n5,\n");
    kr_file *file = must_read("a.csv:x");
    const kr_column *column = kr_file_column(file);
    const uint32_t *codes = column->data;
    size_t nbytes = 0;
    assert_true(kr_file_is_text(file) && column->count == 5 && column->dictionary != 0);
    assert_false(is_valid(column, 0) || is_valid(column, 4));
    assert_string_equal(kr_file_string(file, codes[1], &nbytes), "fig");
    assert_string_equal(kr_file_string(file, codes[2], &nbytes), "7");
    assert_string_equal(kr_file_string(file, codes[3], &nbytes), "ant");
    kr_file_close(file);
    put_text("a.csv", "x\n7\nfig\n");
    must_fail("a.csv:x", KR_ERR_FORMAT,
              "a.csv:3:\tcolumn 'x'\t'fig' is not a number\tadd ':str' to read text");
    put_text("a.csv", "x\n1995-03-15\nfig\n");
    must_fail("a.csv:x", KR_ERR_FORMAT, "a.csv:3:\t'fig'\tadd ':str'");
    put_text("a.csv", "x\nNA\n7\n");
    must_fail("a.csv:x", KR_ERR_FORMAT, "a.csv:2:\t'NA'\tkr_file_options.nulls 'NA'\tadd ':str'");
    put_text("a.csv", "x\n10002-06-22\n");
    must_fail("a.csv:x", KR_ERR_FORMAT, "a.csv:2:\thas a sign\tadd ':str'");
}

static void nulls(void **state)
{
    (void)state;
    char text[40000] = "x,y\n";
    size_t n = strlen(text);
    for (int i = 0; i < 5000; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, i % 7 == 3 ? ",1\n" : "%d,1\n", i);
    put_text("a.csv", text);
    static const char *const sources[] = {"a.csv:x", "a.csv:x:i64", "a.csv:x:i16", "a.csv:x:f32"};
    for (size_t s = 0; s < sizeof sources / sizeof *sources; s++) {
        kr_file *file = must_read(sources[s]);
        const kr_column *column = kr_file_column(file);
        assert_int_equal(column->count, 5000);
        assert_int_equal(column->validity_offset, 0);
        for (uint64_t i = 0; i < 5000; i++)
            assert_int_equal(is_valid(column, i), i % 7 != 3);
        if (column->type == KR_I64)
            for (int64_t i = 0; i < 5000; i++)
                assert_int_equal(((const int64_t *)column->data)[i], i % 7 == 3 ? 0 : i);
        kr_file_close(file);
    }
    must_hold("a.csv:y:u8", KR_U8, 5000, memset(text, 1, 5000));

    /* The first value after more NULL than the first room holds. */
    memset(text, '\n', 9000);
    memcpy(text, "x\n", 2);
    strcpy(text + 9000, "0.5\n\n");
    put_text("a.csv", text);
    kr_file *file = must_read("a.csv:x");
    const kr_column *column = kr_file_column(file);
    assert_int_equal(column->type, KR_F64);
    assert_int_equal(column->count, 9000);
    for (uint64_t i = 0; i < 9000; i++)
        assert_int_equal(is_valid(column, i), i == 8998);
    assert_true(((const double *)column->data)[8998] == 0.5);
    assert_true(((const double *)column->data)[8997] == 0);
    kr_file_close(file);
}

static void quotes_and_line_ends(void **state)
{
    (void)state;
    put_text("a.csv", "\xef\xbb\xbf\"a\",\"say \"\"hi\"\"\",c\r\n\"1\",\"10\",x\r\n2,20,\"multi\r\nline, "
                      "\"\"quoted\"\"\"\r\n"
                      "\"3\",\"30\",\"\"\r\n4,40,y\r");
    must_hold("a.csv:a", KR_I64, 4, (const int64_t[]){1, 2, 3, 4});
    must_hold("a.csv:say \"hi\":u8", KR_U8, 4, (const uint8_t[]){10, 20, 30, 40});
    kr_file *file = must_read("a.csv:c:str");
    const kr_column *column = kr_file_column(file);
    assert_int_equal(column->count, 4);
    assert_false(is_valid(column, 2));
    size_t nbytes = 0;
    const char *text = kr_file_string(file, ((const uint32_t *)column->data)[1], &nbytes);
    assert_string_equal(text, "multi\r\nline, \"quoted\"");
    assert_int_equal(nbytes, strlen(text));
    kr_file_close(file);

    put_text("a.csv", "a,b\n\"1\n\n\",1\n2,3,4\n");
    must_fail("a.csv:b", KR_ERR_FORMAT, "a.csv:5:\t3 fields\theader has 2");
    put_text("a.csv", "\"two\nlines\",b\n1,1\n1,x\n");
    must_fail("a.csv:b", KR_ERR_FORMAT, "a.csv:4:\t'x'");
    put_text("a.csv", "\"two\nlines\",b\n1,1\n");
    must_hold("a.csv:two\nlines", KR_I64, 1, (const int64_t[]){1});
}

static void broken_quotes(void **state)
{
    (void)state;
    put_text("a.csv", "a,b\n1,\"2\n3,4\n");
    must_fail("a.csv:a", KR_ERR_FORMAT, "a.csv:2:\tbyte 2\tquotes\tnot closed");
    put_text("a.csv", "a,b\n\"1\"x,2\n");
    must_fail("a.csv:a", KR_ERR_FORMAT, "a.csv:2:\tquotes");
    put_text("a.csv", "a,b\n1,5\" pipe\n");
    must_fail("a.csv:a", KR_ERR_FORMAT, "a.csv:2:\tbyte 2\tquotes");
    put_text("a.csv", "a,b\n1,\"x\ny\",\"z\n");
    must_fail("a.csv:a", KR_ERR_FORMAT, "a.csv:3:\tquotes");
    put_text("a.csv", "a,\"b\n1,2\n");
    must_fail("a.csv:a", KR_ERR_FORMAT, "a.csv:1:\tquotes");
    put_text("a.csv", "a\n\"");
    must_fail("a.csv:a", KR_ERR_FORMAT, "a.csv:2:\tquotes");
    put_text("a.csv", "a\n\"\"\"");
    must_fail("a.csv:a", KR_ERR_FORMAT, "a.csv:2:\tquotes");
}

static void rows_of_other_lengths(void **state)
{
    (void)state;
    put_text("a.csv", "a,b,c\n1,2,3\n1,2\n");
    must_fail("a.csv:a", KR_ERR_FORMAT, "a.csv:3:\t2 fields\theader has 3\tcolumn 'a'");
    must_fail("a.csv:c", KR_ERR_FORMAT, "a.csv:3:\t2 fields\theader has 3\tcolumn 'c'");
    put_text("a.csv", "a,b,c\n1,2,3,4\n");
    must_fail("a.csv:c", KR_ERR_FORMAT, "a.csv:2:\t4 fields\theader has 3");
    put_text("a.csv", "a,b\n1,2\n\n3,4\n");
    must_fail("a.csv:a", KR_ERR_FORMAT, "a.csv:3:\t1 fields");
    put_text("a.csv", "a,b\n1,\"2\",3\n");
    must_fail("a.csv:a", KR_ERR_FORMAT, "a.csv:2:\t3 fields");
    put_text("a.tbl", "1|2|\n1|2|3|\n");
    must_fail("a.tbl:0", KR_ERR_FORMAT, "a.tbl:2:\t3 fields\tfirst row has 2\tcolumn 0");
    put_text("a.tbl", "1|2|\n1|\n");
    must_fail("a.tbl:1", KR_ERR_FORMAT, "a.tbl:2:\t1 fields\tfirst row has 2\tcolumn 1");
    put_text("a.tbl", "1|2|\n1|2\n");
    must_fail("a.tbl:0", KR_ERR_FORMAT, "a.tbl:2:\tcolumn 0\tdoes not end with '|'");
    put_text("a.tbl", "1|2|\n\n3|4|\n");
    must_fail("a.tbl:0", KR_ERR_FORMAT, "a.tbl:2:\t0 fields\tfirst row has 2");
    put_text("a.tbl", "1|2|\n \n");
    must_fail("a.tbl:0", KR_ERR_FORMAT, "a.tbl:2:\tdoes not end with '|'");
}

static void empty_lines_at_the_end(void **state)
{
    (void)state;
    put_text("a.csv", "a,b\r\n1,2\r\n3,4\r\n\r\n\n\r\n");
    must_hold("a.csv:b", KR_I64, 2, (const int64_t[]){2, 4});
    put_text("a.tbl", "1|2|\n\n\n");
    must_hold("a.tbl:1", KR_I64, 1, (const int64_t[]){2});
    put_text("a.tbl", "\n");
    must_hold("a.tbl:1", KR_I64, 0, "");
    put_text("a.csv", "a,b\n\n1,2\n");
    must_fail("a.csv:a", KR_ERR_FORMAT, "a.csv:2:\t1 fields\theader has 2");
    put_text("a.csv", "a,b\n1,2\n\n\n3\n");
    must_fail("a.csv:a", KR_ERR_FORMAT, "a.csv:3:\t1 fields\theader has 2");
    /* With one column, the empty lines are rows: SQL programs write NULL so. */
    put_text("a.csv", "a\n1\n\n\n");
    kr_file *file = must_read("a.csv:a");
    assert_int_equal(kr_file_column(file)->count, 3);
    assert_false(is_valid(kr_file_column(file), 2));
    kr_file_close(file);
}

static void separators(void **state)
{
    (void)state;
    const int64_t wanted[] = {2, 4};
    static const char *const texts[] = {"a,b\n1,2\n3,4\n", "a;b\n1;2\n3;4\n", "a\tb\n1\t2\n3\t4\n"};
    for (size_t i = 0; i < 3; i++) {
        put_text("a.csv", texts[i]);
        must_hold("a.csv:b", KR_I64, 2, wanted);
        must_hold("a.csv:1", KR_I64, 2, wanted);
    }
    put_text("a.tsv", texts[2]);
    must_hold("a.tsv:b", KR_I64, 2, wanted);
    put_text("a.tsv", "x,a;b\tb\n1\t2\n3\t4\n");
    must_hold("a.tsv:b", KR_I64, 2, wanted);
    must_hold("a.tsv:x,a;b", KR_I64, 2, (const int64_t[]){1, 3});
    /* Those in quotes do not count, and a comma goes before as many others. */
    put_text("a.csv", "\"a,x,y\";\"b;z\"\n1;2\n3;4\n");
    must_hold("a.csv:b;z", KR_I64, 2, wanted);
    put_text("a.csv", "a;x,b\n1,2\n3,4\n");
    must_hold("a.csv:a;x", KR_I64, 2, (const int64_t[]){1, 3});
    put_text("a.csv", "price, EUR;b;c\n1,5;2;x\n2,5;4;y\n");
    must_hold("a.csv:b", KR_I64, 2, wanted);
    must_fail("a.csv:price, EUR:f64", KR_ERR_FORMAT, "a.csv:2:\t'1,5'\tf64");
    must_fail("a.csv:a", KR_ERR_FORMAT, "no column 'a'\tprice, EUR, b, c");
    /* A header longer than the window of 4 MiB. */
    char *text = malloc(9000100);
    memset(text, 'n', 9000000);
    strcpy(text + 9000000, ";b\n1;2\n3;4\n");
    put_text("a.csv", text);
    free(text);
    must_hold("a.csv:b", KR_I64, 2, wanted);
}

static void columns_by_position(void **state)
{
    (void)state;
    put_text("a.csv", ",b,b\n0,5,7\n1,6,8\n");
    must_hold("a.csv:0", KR_I64, 2, (const int64_t[]){0, 1});
    must_hold("a.csv:#0:u8", KR_U8, 2, (const uint8_t[]){0, 1});
    must_hold("a.csv:2", KR_I64, 2, (const int64_t[]){7, 8});
    must_fail("a.csv:b", KR_ERR_FORMAT, "'b' occurs 2 times\t#0");
    must_fail("a.csv:3", KR_ERR_FORMAT, "no column '3'\tcolumns 0 to 2\t, b, b");
    must_fail("a.csv:#3", KR_ERR_FORMAT, "no column '#3'\tcolumns 0 to 2");
    must_fail("a.csv:4294967296", KR_ERR_FORMAT, "no column '4294967296'");
    must_fail("a.csv:-1", KR_ERR_FORMAT, "no column '-1'");
    must_fail("a.csv:#", KR_ERR_FORMAT, "no column '#'");
    /* Names go first; '#' is for the position, unless that is a name, too. */
    put_text("a.csv", ",1,0,#0\n5,6,7,8\n");
    must_hold("a.csv:0", KR_I64, 1, (const int64_t[]){7});
    must_hold("a.csv:1", KR_I64, 1, (const int64_t[]){6});
    must_hold("a.csv:#2", KR_I64, 1, (const int64_t[]){7});
    must_hold("a.csv:#0", KR_I64, 1, (const int64_t[]){8});
    /* No header: a row would be lost in silence. */
    put_text("a.csv", "1,2024-01-01\n2,2024-01-02\n");
    must_fail("a.csv:0", KR_ERR_FORMAT, "a.csv:1:\tfirst row must be the header\t1, 2024-01-01");
    must_hold("a.csv:1", KR_I64, 1, (const int64_t[]){2});
    put_bytes("a.csv", "a\0b,c\n1,2\n", 10);
    must_hold("a.csv:0", KR_I64, 1, (const int64_t[]){1});
}

static kr_file *must_read_with(const char *source, const char *nulls)
{
    const kr_file_options options = {.struct_size = sizeof options, .nulls = nulls};
    kr_error err = {0};
    kr_file *file = NULL;
    if (kr_file_read(in_folder(source), &options, NULL, &file, &err) != KR_OK)
        fail_msg("%s: %s", source, err.text);
    return file;
}

static void only_the_empty_field_is_null(void **state)
{
    (void)state;
    put_text("a.csv",
             "s,i,d,q\nNULL,1,2024-01-01,1\nNA,NA,NaT,\"NA\"\n,,,\n\"\",\\N,NULL,1\nNaT,null,None,2\n");
    kr_file *file = must_read("a.csv:s:str");
    assert_string_equal(kr_file_string(file, ((const uint32_t *)kr_file_column(file)->data)[1], NULL), "NA");
    must_have_values(file, "11001");
    must_fail("a.csv:i", KR_ERR_FORMAT,
              "a.csv:3: column 'i': 'NA' is not a number\tkr_file_options.nulls 'NA' reads it as NULL");
    must_fail("a.csv:i:u8", KR_ERR_FORMAT,
              "a.csv:3: column 'i': 'NA' is not of type u8\tkr_file_options.nulls 'NA'");
    must_fail("a.csv:d", KR_ERR_FORMAT,
              "a.csv:3: column 'd': 'NaT' is not a number\tkr_file_options.nulls 'NaT'");
    kr_error err;
    kr_file *none = NULL;
    assert_int_equal(kr_file_read(in_folder("a.csv:q"), NULL, NULL, &none, &err), KR_ERR_FORMAT);
    assert_null(strstr(err.text, "nulls")); /* which would not help: it is quoted */
}

static void words_for_null(void **state)
{
    (void)state;
    static const char words[] = "NULL,null,NA,\\N,NaT,-999";
    put_text("a.csv",
             "i,d,s\nNULL,2024-01-01,NULL\n1,NaT,\"NULL\"\nNA,NA,NA\n\\N,null,\\N\nnull,2024-01-02,NaT\n"
             "-999,,\n2,\\N,nan\n");
    must_have_values(must_read_with("a.csv:i", words), "0100001");
    must_have_values(must_read_with("a.csv:i:u8", words), "0100001");
    must_have_values(must_read_with("a.csv:d", words), "1000100");
    kr_file *file = must_read_with("a.csv:s:str", words);
    assert_string_equal(kr_file_string(file, ((const uint32_t *)kr_file_column(file)->data)[1], NULL),
                        "NULL");
    must_have_values(file, "0100001");
    must_have_values(must_read_with("a.csv:s:str", "N,NULLS,,NUL,null"), "1111101");
    must_have_values(must_read_with("a.csv:s:str", ""), "1111101");
    put_text("b.tbl", "NA|\n5|\n");
    must_have_values(must_read_with("b.tbl:0", "NA"), "01");
}

static void years_of_other_lengths_have_a_sign(void **state)
{
    (void)state;
    put_text("a.csv", "d,t,m\n+10002-06-22,-0044-03-15 06:00,1\n-0044-03-15,2024-01-01,-0044-03-15\n");
    must_hold("a.csv:d", KR_DATE32, 2, (const int32_t[]){2933800, -735525});
    must_hold("a.csv:t", KR_TIMESTAMP64, 2,
              (const int64_t[]){-735525 * INT64_C(86400000000) + 21600000000, 19723 * INT64_C(86400000000)});
    must_fail("a.csv:m", KR_ERR_FORMAT, "a.csv:3:\tmixes dates and numbers: '-0044-03-15'");
    put_text("a.csv", "d\n10002-06-22\n");
    must_fail("a.csv:d", KR_ERR_FORMAT, "'10002-06-22' is not a number, date or time");
}

static void times_are_found_in_the_text(void **state)
{
    (void)state;
    put_text("a.csv", "t,m,d,n\n2024-01-01 00:00:00,2024-01-01,2024-01-01,2024-01-01 00:00:00.5\n"
                      "2024-01-02,2024-01-02T01:00Z,2024-01-02,2024-01-02 00:00:00.123456789\n");
    const int64_t day = 86400000000, first = 19723 * day;
    must_hold("a.csv:t", KR_TIMESTAMP64, 2, (const int64_t[]){first, first + day});
    must_hold("a.csv:m", KR_TIMESTAMP64, 2, (const int64_t[]){first, first + day + day / 24});
    must_hold("a.csv:d", KR_DATE32, 2, (const int32_t[]){19723, 19724});
    must_hold("a.csv:t:date32", KR_DATE32, 2, (const int32_t[]){19723, 19724});
    must_fail("a.csv:m:date32", KR_ERR_FORMAT, "a.csv:3:\t'2024-01-02T01:00Z' has a time of day\tdate32");
    must_fail("a.csv:n", KR_ERR_FORMAT,
              "a.csv:3:\t'2024-01-02 00:00:00.123456789' is finer than timestamp64[us]\t[ns]");
    must_hold("a.csv:n:timestamp64[ns]", KR_TIMESTAMP64, 2,
              (const int64_t[]){first * 1000 + 500000000, (first + day) * 1000 + 123456789});
    must_hold("a.csv:d:timestamp64[s]", KR_TIMESTAMP64, 2, (const int64_t[]){19723 * 86400, 19724 * 86400});
    kr_file *file = must_read("a.csv:t");
    assert_int_equal(kr_file_unit(file), KR_UNIT_US);
    kr_file_close(file);
    /* The order of midnights, dates and other times does not matter. */
    put_text("a.csv", "x\n2024-01-01\n2024-01-02 00:00:00\n2024-01-02\n");
    must_hold("a.csv:x", KR_TIMESTAMP64, 3, (const int64_t[]){first, first + day, first + day});

    put_text("a.csv", "x,y\n5,2024-01-01\n2024-01-01 00:00:00,7\n");
    must_fail("a.csv:x", KR_ERR_FORMAT, "a.csv:3:\tmixes dates and numbers");
    must_fail("a.csv:x:timestamp64", KR_ERR_FORMAT, "a.csv:3:\tmixes integers and times\ttimestamp64[s]");
    must_fail("a.csv:y:timestamp64", KR_ERR_FORMAT, "a.csv:3:\tmixes integers and times\ttimestamp64[s]");
    must_hold("a.csv:x:timestamp64[s]", KR_TIMESTAMP64, 2, (const int64_t[]){5, 19723 * 86400});
    put_text("a.csv", "x\n5\n6\n");
    file = must_read("a.csv:x:timestamp64");
    assert_int_equal(kr_file_unit(file), KR_UNIT_NONE);
    kr_file_close(file);
    put_text("a.csv", "x\n2262-04-11 23:47:16.854775807\n1677-09-21 00:12:43.145224192\n");
    must_hold("a.csv:x:timestamp64[ns]", KR_TIMESTAMP64, 2, (const int64_t[]){INT64_MAX, INT64_MIN});
    put_text("a.csv", "x\n2262-04-11 23:47:16.854775808\n");
    must_fail("a.csv:x:timestamp64[ns]", KR_ERR_FORMAT, "a.csv:2:\tout of range for timestamp64[ns]");
}

static void other_encodings(void **state)
{
    (void)state;
    put_bytes("a.csv",
              "\xff\xfe"
              "a\0\n\0"
              "1\0\n\0",
              10);
    must_fail("a.csv:a", KR_ERR_FORMAT, "a.csv is UTF-16");
    put_bytes("a.tbl", "\xfe\xff\0001", 4);
    must_fail("a.tbl:0", KR_ERR_FORMAT, "a.tbl is UTF-16");
    put_text("a.tbl", "\xef\xbb\xbf"
                      "5|7|\n6|8|\n");
    must_hold("a.tbl:0", KR_I64, 2, (const int64_t[]){5, 6});
    must_hold("a.tbl:0:str", KR_U32, 2, (const uint32_t[]){0, 1});
    put_text("a.tbl", "\xef\xbb\xbf");
    must_hold("a.tbl:0", KR_I64, 0, "");
    put_bytes("a.csv", "a\n1\0002\n", 6);
    must_fail("a.csv:a:i64", KR_ERR_FORMAT, "a.csv:2:\t'1?2'");
    kr_file *file = must_read("a.csv:a");
    size_t nbytes = 0;
    assert_memory_equal(kr_file_string(file, 0, &nbytes), "1\0002", 4);
    assert_int_equal(nbytes, 3);
    kr_file_close(file);
}

static void no_rows(void **state)
{
    (void)state;
    put_text("a.csv", "");
    must_fail("a.csv:a", KR_ERR_FORMAT, "a.csv is empty\theader");
    put_text("a.csv", "a,b");
    must_hold("a.csv:b", KR_I64, 0, "");
    must_hold("a.csv:b:f32", KR_F32, 0, "");
    put_text("a.csv", "a,b\r\n");
    must_hold("a.csv:b:str", KR_U32, 0, "");
    put_text("a.tbl", "");
    must_hold("a.tbl:3:u16", KR_U16, 0, "");
}

static void columns_that_are_not_there(void **state)
{
    (void)state;
    put_text("a.csv", "a,b,a\n1,2,3\n");
    must_fail("a.csv:c", KR_ERR_FORMAT, "a.csv has no column 'c'\ta, b, a");
    must_fail("a.csv:b:u33", KR_ERR_ARGUMENT, "a.csv:b:u33: 'u33' is not a type\tdid you mean\ttypes are u8");
    must_fail("a.csv:a", KR_ERR_FORMAT, "a.csv:1:\t'a' occurs 2 times");
    must_fail("a.csv", KR_ERR_ARGUMENT, "a.csv\tFILE.csv:NAME");
    must_fail("a.csv:", KR_ERR_ARGUMENT, "a.csv\tFILE.csv:NAME");
    put_text("a.tbl", "1|2|\n");
    must_fail("a.tbl:2", KR_ERR_FORMAT, "a.tbl has no column 2\t0 to 1");
    must_fail("a.tbl:4294967295", KR_ERR_FORMAT, "a.tbl has no column 4294967295");
    static const char *const selectors[] = {"a.tbl",    "a.tbl:",           "a.tbl:x",
                                            "a.tbl:-1", "a.tbl:4294967296", "a.tbl:u32"};
    for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++)
        must_fail(selectors[i], KR_ERR_ARGUMENT, "a.tbl needs a column number\tFILE.tbl:NUMBER");
    must_fail("a.tbl:1:u33", KR_ERR_ARGUMENT,
              "a.tbl:1:u33: 'u33' is not a type (did you mean 'u32'?); types are u8");
    must_fail("a.tbl:1:", KR_ERR_ARGUMENT, "'' is not a type; types are u8");
}

static void tbl_files(void **state)
{
    (void)state;
    put_text("a.tbl", "1|say \"hi|1.5|1995-03-15|\n2||2.5|1970-01-01|\r\n3|x|-1|1969-12-31|");
    must_hold("a.tbl:0", KR_I64, 3, (const int64_t[]){1, 2, 3});
    must_hold("a.tbl:0:u8", KR_U8, 3, (const uint8_t[]){1, 2, 3});
    must_hold("a.tbl:2", KR_F64, 3, (const double[]){1.5, 2.5, -1});
    must_hold("a.tbl:3", KR_DATE32, 3, (const int32_t[]){9204, 0, -1});
    kr_file *file = must_read("a.tbl:1:str");
    const kr_column *column = kr_file_column(file);
    assert_false(is_valid(column, 1));
    assert_string_equal(kr_file_string(file, ((const uint32_t *)column->data)[0], NULL), "say \"hi");
    kr_file_close(file);
}

static void every_column_of_wide_rows(void **state)
{
    (void)state;
    /* Field lengths that put separators at every place of the eight bytes looked at together. */
    enum { COLUMNS = 40, ROWS = 60 };
    for (int csv = 0; csv < 2; csv++) {
        FILE *out = fopen(in_folder(csv ? "w.csv" : "w.tbl"), "wb");
        assert_non_null(out);
        for (int c = 0; csv && c < COLUMNS; c++)
            fprintf(out, "%sc%d", c ? "," : "", c);
        for (int r = 0; r < ROWS; r++) {
            fputs(csv || r ? "\n" : "", out);
            for (int c = 0; c < COLUMNS; c++)
                fprintf(out, "%s%0*d%s", csv && c ? "," : "", (r * 7 + c * 3) % 12 + 1, r * c % 10,
                        csv ? "" : "|");
        }
        fclose(out);
        for (int c = 0; c < COLUMNS; c++) {
            char source[32];
            int64_t wanted[ROWS];
            snprintf(source, sizeof source, csv ? "w.csv:c%d" : "w.tbl:%d", c);
            for (int r = 0; r < ROWS; r++)
                wanted[r] = r * c % 10;
            must_hold(source, KR_I64, ROWS, wanted);
        }
    }
}

static void rows_across_windows(void **state)
{
    (void)state;
    /* More than two windows of 4 MiB, then a row that is larger than a window. */
    enum { ROWS = 700000, LONG = 9000000 };
    FILE *out = fopen(in_folder("big.csv"), "wb");
    assert_non_null(out);
    fputs("n,text\r\n", out);
    int64_t *wanted = malloc((ROWS + 2) * sizeof *wanted);
    for (int r = 0; r < ROWS; r++) {
        wanted[r] = (int64_t)r * r;
        fprintf(out, r % 3 ? "%lld,plain\r\n" : "\"%lld\",\"a \"\"quoted\"\"\nfield\"\r\n",
                (long long)wanted[r]);
    }
    fputs("1,\"", out);
    for (int i = 0; i < LONG / 3; i++)
        fputs("\n\"\"", out);
    fputs("\"\n2,end", out);
    fclose(out);
    wanted[ROWS] = 1;
    wanted[ROWS + 1] = 2;
    must_hold("big.csv:n", KR_I64, ROWS + 2, wanted);
    free(wanted);
    kr_file *file = must_read("big.csv:text:str");
    size_t nbytes = 0;
    const uint32_t *codes = kr_file_column(file)->data;
    assert_string_equal(kr_file_string(file, codes[0], NULL), "a \"quoted\"\nfield");
    const char *text = kr_file_string(file, codes[ROWS], &nbytes);
    assert_int_equal(nbytes, LONG / 3 * 2);
    for (size_t i = 0; i < nbytes; i++)
        assert_int_equal(text[i], i % 2 ? '"' : '\n');
    kr_file_close(file);
    remove(in_folder("big.csv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_found_in_the_text),
        cmocka_unit_test(given_types_are_obeyed),
        cmocka_unit_test(large_integers),
        cmocka_unit_test(values_that_do_not_fit),
        cmocka_unit_test(texts_without_a_type),
        cmocka_unit_test(nulls),
        cmocka_unit_test(quotes_and_line_ends),
        cmocka_unit_test(broken_quotes),
        cmocka_unit_test(rows_of_other_lengths),
        cmocka_unit_test(empty_lines_at_the_end),
        cmocka_unit_test(separators),
        cmocka_unit_test(columns_by_position),
        cmocka_unit_test(only_the_empty_field_is_null),
        cmocka_unit_test(words_for_null),
        cmocka_unit_test(years_of_other_lengths_have_a_sign),
        cmocka_unit_test(times_are_found_in_the_text),
        cmocka_unit_test(other_encodings),
        cmocka_unit_test(no_rows),
        cmocka_unit_test(columns_that_are_not_there),
        cmocka_unit_test(tbl_files),
        cmocka_unit_test(every_column_of_wide_rows),
        cmocka_unit_test(rows_across_windows),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
