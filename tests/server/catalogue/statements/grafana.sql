-- Shaped after Grafana's PostgreSQL data source (public sources). Not recorded: Grafana was not run.
SELECT quote_ident(table_name) AS "table" FROM information_schema.tables WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog', '_timescaledb_cache', '_timescaledb_catalog', '_timescaledb_internal', '_timescaledb_config', 'timescaledb_information', 'timescaledb_experimental') AND table_type = 'BASE TABLE' AND quote_ident(table_schema) IN (SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END FROM generate_series(1, 1) AS i, string_to_array('public', ',') s);
SELECT quote_ident(column_name) AS "column", data_type AS "type" FROM information_schema.columns WHERE CASE WHEN array_length(parse_ident('stays'), 1) = 2 THEN quote_ident(table_schema) = (parse_ident('stays'))[1] AND quote_ident(table_name) = (parse_ident('stays'))[2] ELSE quote_ident(table_name) = 'stays' END;
SELECT current_setting('server_version_num')::int / 100 > 900 AS recent;
SELECT extversion FROM pg_extension WHERE extname = 'timescaledb';
SELECT 1;
