-- Functions of PostgreSQL that clients call, over our own tables. One per line.
-- Aliases begin with of_: a macro's own alias would catch a column of the statement that is called the same.
CREATE MACRO current_schema() AS 'public'
CREATE MACRO current_schemas(implicit) AS CASE WHEN implicit THEN ['pg_catalog', 'public'] ELSE ['public'] END
CREATE MACRO current_database() AS 'nowiser'
CREATE MACRO pg_get_userbyid(x) AS coalesce((SELECT rolname FROM pg_roles of_r WHERE of_r.oid = x), 'unknown (OID=' || x || ')')
CREATE MACRO pg_table_is_visible(x) AS EXISTS (SELECT 1 FROM pg_class of_q WHERE of_q.oid = x AND of_q.relnamespace IN (11, 2200))
CREATE MACRO pg_type_is_visible(x) AS EXISTS (SELECT 1 FROM pg_type of_q WHERE of_q.oid = x AND of_q.typnamespace IN (11, 2200))
CREATE MACRO pg_function_is_visible(x) AS true
CREATE MACRO pg_operator_is_visible(x) AS true
CREATE MACRO pg_opclass_is_visible(x) AS true
CREATE MACRO pg_opfamily_is_visible(x) AS true
CREATE MACRO pg_collation_is_visible(x) AS true
CREATE MACRO pg_conversion_is_visible(x) AS true
CREATE MACRO pg_statistics_obj_is_visible(x) AS true
CREATE MACRO pg_ts_config_is_visible(x) AS true
CREATE MACRO pg_ts_dict_is_visible(x) AS true
CREATE MACRO pg_ts_parser_is_visible(x) AS true
CREATE MACRO pg_ts_template_is_visible(x) AS true
CREATE MACRO pg_encoding_to_char(x) AS CASE x WHEN 6 THEN 'UTF8' WHEN 0 THEN 'SQL_ASCII' ELSE '' END
CREATE MACRO pg_char_to_encoding(x) AS CASE upper(x) WHEN 'UTF8' THEN 6 WHEN 'UTF-8' THEN 6 ELSE -1 END
CREATE MACRO pg_client_encoding() AS 'UTF8'
CREATE MACRO getdatabaseencoding() AS 'UTF8'
CREATE MACRO pg_my_temp_schema() AS 0::UINTEGER
CREATE MACRO pg_is_other_temp_schema(x) AS false
CREATE MACRO pg_is_in_recovery() AS false
CREATE MACRO pg_is_wal_replay_paused() AS false
CREATE MACRO pg_backend_pid() AS 1
CREATE MACRO pg_postmaster_start_time() AS NULL::TIMESTAMP
CREATE MACRO pg_conf_load_time() AS NULL::TIMESTAMP
CREATE MACRO txid_current() AS 1::BIGINT
CREATE MACRO inet_server_addr() AS NULL::VARCHAR
CREATE MACRO inet_server_port() AS NULL::INTEGER
CREATE MACRO inet_client_addr() AS NULL::VARCHAR
CREATE MACRO inet_client_port() AS NULL::INTEGER
CREATE MACRO pg_relation_size(x) AS 0::BIGINT, (x, y) AS 0::BIGINT
CREATE MACRO pg_total_relation_size(x) AS 0::BIGINT
CREATE MACRO pg_table_size(x) AS 0::BIGINT
CREATE MACRO pg_indexes_size(x) AS 0::BIGINT
CREATE MACRO pg_database_size(x) AS 0::BIGINT
CREATE MACRO pg_tablespace_size(x) AS 0::BIGINT
CREATE MACRO pg_tablespace_location(x) AS ''
CREATE MACRO pg_size_pretty(x) AS x || ' bytes'
CREATE MACRO pg_stat_get_numscans(x) AS 0::BIGINT
CREATE MACRO pg_stat_get_live_tuples(x) AS 0::BIGINT
CREATE MACRO pg_relation_is_publishable(x) AS false
CREATE MACRO pg_relation_is_updatable(x, y) AS 0
CREATE MACRO pg_column_is_updatable(x, y, z) AS false
CREATE MACRO pg_get_expr(x, y) AS x::VARCHAR, (x, y, z) AS x::VARCHAR
CREATE MACRO pg_get_viewdef(x) AS '', (x, y) AS ''
CREATE MACRO pg_get_ruledef(x) AS '', (x, y) AS ''
CREATE MACRO pg_get_triggerdef(x) AS '', (x, y) AS ''
CREATE MACRO pg_get_partkeydef(x) AS NULL::VARCHAR
CREATE MACRO pg_get_partition_constraintdef(x) AS NULL::VARCHAR
CREATE MACRO pg_get_statisticsobjdef_columns(x) AS NULL::VARCHAR
CREATE MACRO pg_get_functiondef(x) AS NULL::VARCHAR
CREATE MACRO pg_get_function_result(x) AS NULL::VARCHAR
CREATE MACRO pg_get_function_arguments(x) AS ''
CREATE MACRO pg_get_function_identity_arguments(x) AS ''
CREATE MACRO pg_get_function_sqlbody(x) AS NULL::VARCHAR
CREATE MACRO pg_get_serial_sequence(x, y) AS NULL::VARCHAR
CREATE MACRO pg_get_constraintdef(x) AS (SELECT of_q.written FROM constraint_text of_q WHERE of_q.oid = x), (x, y) AS (SELECT of_q.written FROM constraint_text of_q WHERE of_q.oid = x)
CREATE MACRO pg_get_indexdef(x) AS (SELECT of_q.written FROM index_text of_q WHERE of_q.oid = x), (x, y, z) AS CASE WHEN y = 0 THEN (SELECT CASE WHEN z THEN replace(of_q.written, ' ON public.', ' ON ') ELSE of_q.written END FROM index_text of_q WHERE of_q.oid = x) ELSE (SELECT quote_ident(of_q.attname) FROM pg_attribute of_q WHERE of_q.attrelid = x AND of_q.attnum = y) END
CREATE MACRO format_type(x, y) AS CASE WHEN x IS NULL THEN NULL WHEN x = 0 THEN '-' ELSE coalesce((SELECT of_q.written FROM formats of_q WHERE of_q.oid = x), (SELECT CASE WHEN of_t.typcategory = 'A' AND of_t.typelem <> 0 THEN quote_ident(of_t.typname[2:]) || '[]' ELSE quote_ident(of_t.typname) END FROM pg_type of_t WHERE of_t.oid = x), '???') END
CREATE MACRO obj_description(x) AS (SELECT of_q.description FROM pg_description of_q WHERE of_q.objoid = x AND of_q.objsubid = 0 LIMIT 1), (x, y) AS (SELECT of_q.description FROM pg_description of_q JOIN pg_class of_k ON of_k.oid = of_q.classoid AND of_k.relname = y WHERE of_q.objoid = x AND of_q.objsubid = 0)
CREATE MACRO shobj_description(x, y) AS NULL::VARCHAR
CREATE MACRO col_description(x, y) AS (SELECT of_q.description FROM pg_description of_q WHERE of_q.objoid = x AND of_q.objsubid = y AND of_q.classoid = 1259 AND of_q.objsubid <> 0)
CREATE MACRO quote_ident(x) AS CASE WHEN regexp_full_match(x, '[a-z_][a-z0-9_]*') AND x NOT IN (SELECT word FROM keywords WHERE catcode <> 'U') THEN x ELSE '"' || replace(x, '"', '""') || '"' END
CREATE MACRO quote_literal(x) AS '''' || replace(x::VARCHAR, '''', '''''') || ''''
CREATE MACRO parse_ident(x) AS [replace(p, '"', '') FOR p IN string_split(x, '.')], (x, y) AS [replace(p, '"', '') FOR p IN string_split(x, '.')]
CREATE MACRO current_setting(x) AS (SELECT of_q.setting FROM pg_settings of_q WHERE lower(of_q.name) = lower(x)), (x, y) AS (SELECT of_q.setting FROM pg_settings of_q WHERE lower(of_q.name) = lower(x))
CREATE MACRO has_table_privilege(a, b) AS lower(b) LIKE 'select%', (a, b, c) AS lower(c) LIKE 'select%'
CREATE MACRO has_any_column_privilege(a, b) AS lower(b) LIKE 'select%', (a, b, c) AS lower(c) LIKE 'select%'
CREATE MACRO has_column_privilege(a, b, c) AS lower(c) LIKE 'select%', (a, b, c, d) AS lower(d) LIKE 'select%'
CREATE MACRO has_schema_privilege(a, b) AS lower(b) LIKE '%usage%', (a, b, c) AS lower(c) LIKE '%usage%'
CREATE MACRO has_database_privilege(a, b) AS lower(b) LIKE '%connect%', (a, b, c) AS lower(c) LIKE '%connect%'
CREATE MACRO has_function_privilege(a, b) AS true, (a, b, c) AS true
CREATE MACRO has_type_privilege(a, b) AS true, (a, b, c) AS true
CREATE MACRO has_language_privilege(a, b) AS true, (a, b, c) AS true
CREATE MACRO has_sequence_privilege(a, b) AS false, (a, b, c) AS false
CREATE MACRO has_tablespace_privilege(a, b) AS false, (a, b, c) AS false
CREATE MACRO has_server_privilege(a, b) AS false, (a, b, c) AS false
CREATE MACRO pg_has_role(a, b) AS true, (a, b, c) AS a::VARCHAR = b::VARCHAR
CREATE MACRO row_security_active(x) AS false
CREATE MACRO array_upper(a, b) AS nullif(len(a), 0)
CREATE MACRO array_lower(a, b) AS CASE WHEN len(a) > 0 THEN 1 END
CREATE MACRO array_length(a, b) AS nullif(len(a), 0)
CREATE MACRO cardinality(a) AS len(a)
CREATE MACRO array_to_string(a, b) AS CASE WHEN a IS NULL THEN NULL ELSE coalesce(list_aggregate([x::VARCHAR FOR x IN a IF x IS NOT NULL], 'string_agg', b), '') END, (a, b, c) AS CASE WHEN a IS NULL THEN NULL ELSE coalesce(list_aggregate([coalesce(x::VARCHAR, c) FOR x IN a], 'string_agg', b), '') END
CREATE MACRO string_to_array(a, b) AS string_split(a, b)
CREATE MACRO array_position(a, b) AS nullif(list_position(a, b), 0)
CREATE MACRO expandarray(x) AS unnest(list_transform(range(1, len(x) + 1), lambda i: {'x': x[i], 'n': i}))
CREATE MACRO aclexplode(x) AS {'grantor': 0::UINTEGER, 'grantee': 0::UINTEGER, 'privilege_type': '', 'is_grantable': false}
CREATE MACRO acldefault(x, y) AS NULL::VARCHAR[]
CREATE MACRO to_regclass(x) AS (SELECT of_k.oid FROM pg_class of_k JOIN pg_namespace of_m ON of_m.oid = of_k.relnamespace WHERE of_m.nspname || '.' || of_k.relname = replace(x::VARCHAR, '"', '') OR (of_k.relname = replace(x::VARCHAR, '"', '') AND of_m.nspname IN ('pg_catalog', 'public')) ORDER BY of_m.oid LIMIT 1)
CREATE MACRO regclass_oid(x) AS coalesce(try_cast(x AS UINTEGER), to_regclass(x))
CREATE MACRO regclass_name(x) AS CASE WHEN x IS NULL THEN NULL WHEN x = 0 THEN '-' ELSE coalesce((SELECT CASE WHEN of_m.nspname IN ('pg_catalog', 'public') THEN quote_ident(of_k.relname) ELSE quote_ident(of_m.nspname) || '.' || quote_ident(of_k.relname) END FROM pg_class of_k JOIN pg_namespace of_m ON of_m.oid = of_k.relnamespace WHERE of_k.oid = x), x::VARCHAR) END
CREATE MACRO to_regtype(x) AS coalesce((SELECT of_t.oid FROM pg_type of_t WHERE of_t.typname = replace(replace(x::VARCHAR, 'pg_catalog.', ''), '"', '') LIMIT 1), (SELECT of_q.oid FROM formats of_q WHERE of_q.written = x::VARCHAR LIMIT 1))
CREATE MACRO regtype_oid(x) AS coalesce(try_cast(x AS UINTEGER), to_regtype(x))
CREATE MACRO regtype_name(x) AS CASE WHEN x = 0 THEN '-' ELSE format_type(x, NULL) END
CREATE MACRO to_regnamespace(x) AS (SELECT of_m.oid FROM pg_namespace of_m WHERE of_m.nspname = replace(x::VARCHAR, '"', ''))
CREATE MACRO regnamespace_oid(x) AS coalesce(try_cast(x AS UINTEGER), to_regnamespace(x))
CREATE MACRO regnamespace_name(x) AS CASE WHEN x IS NULL THEN NULL ELSE coalesce((SELECT quote_ident(of_m.nspname) FROM pg_namespace of_m WHERE of_m.oid = x), x::VARCHAR) END
CREATE MACRO to_regrole(x) AS (SELECT of_r.oid FROM pg_roles of_r WHERE of_r.rolname = replace(x::VARCHAR, '"', ''))
CREATE MACRO regrole_oid(x) AS coalesce(try_cast(x AS UINTEGER), to_regrole(x))
CREATE MACRO regrole_name(x) AS (SELECT quote_ident(of_r.rolname) FROM pg_roles of_r WHERE of_r.oid = x)
CREATE MACRO to_regproc(x) AS (SELECT of_p.oid FROM pg_proc of_p WHERE of_p.proname = replace(x::VARCHAR, 'pg_catalog.', '') LIMIT 1)
CREATE MACRO regproc_oid(x) AS coalesce(try_cast(x AS UINTEGER), to_regproc(x))
CREATE MACRO regproc_name(x) AS CASE WHEN x = 0 THEN '-' ELSE coalesce((SELECT of_p.proname FROM pg_proc of_p WHERE of_p.oid = x), x::VARCHAR) END
CREATE MACRO version() AS 'PostgreSQL 16.0 (nowiser)'
CREATE MACRO _pg_truetypid(a, t) AS a
CREATE MACRO _pg_char_max_length(a, b) AS NULL::INTEGER
CREATE MACRO joined(a, b) AS left(a::VARCHAR, 4000) || left(b::VARCHAR, 4000)
CREATE MACRO replaced(a, b, c) AS left(replace(left(a::VARCHAR, 4000), b, left(c::VARCHAR, 200)), 4000)
CREATE MACRO pg_get_keywords() AS TABLE SELECT word, catcode, barelabel, CASE catcode WHEN 'U' THEN 'unreserved' WHEN 'C' THEN 'unreserved (cannot be function or type name)' WHEN 'T' THEN 'reserved (can be function or type name)' ELSE 'reserved' END AS catdesc, CASE WHEN barelabel THEN 'can be bare label' ELSE 'requires AS' END AS baredesc FROM keywords
CREATE MACRO pg_show_all_settings() AS TABLE SELECT * FROM pg_settings
CREATE MACRO pg_options_to_table(x) AS TABLE SELECT ''::VARCHAR option_name, ''::VARCHAR option_value WHERE false
CREATE MACRO no_partitions() AS TABLE SELECT 0::UINTEGER AS relid, 0::BIGINT AS depth WHERE false
CREATE MACRO pg_get_publication_tables(x) AS TABLE SELECT 0::UINTEGER relid WHERE false
CREATE MACRO pg_available_extension_versions() AS TABLE SELECT ''::VARCHAR name, ''::VARCHAR version WHERE false
CREATE MACRO pg_timezone_abbrevs() AS TABLE SELECT ''::VARCHAR abbrev WHERE false
CREATE MACRO subscripts(a, first) AS unnest(range(first, len(a) + first))
