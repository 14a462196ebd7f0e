-- What Superset asks beside SQLAlchemy's inspector, which is recorded (public sources). Not recorded: Superset was not run.
SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname NOT LIKE 'pg_%' ORDER BY nspname;
SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relkind = ANY (ARRAY['v', 'm']) AND pg_catalog.pg_class.relpersistence != 't' AND pg_catalog.pg_namespace.nspname = 'public';
SELECT c.relname, pg_catalog.obj_description(c.oid, 'pg_class') FROM pg_catalog.pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' ORDER BY 1;
SELECT datname FROM pg_database WHERE datistemplate = false AND datname = current_database();
SELECT c.relname, CAST(i.indkey AS VARCHAR) AS places, i.indoption::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = 'public'::regnamespace ORDER BY 1;
SELECT conname, conkey::text, CAST(confkey AS VARCHAR) FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1;
