/** Returns one row per table and view that the database user may read, with its columns in order. */
export const SCHEMA_STATEMENT = `
select n.nspname as schema,
       c.relname as name,
       case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'f' then 'foreign table' else 'table' end as kind,
       string_agg(
         a.attname || ' ' || pg_catalog.format_type(a.atttypid, a.atttypmod)
           || case when a.attnotnull then ' not null' else '' end
           || case when a.attnum = any (k.conkey) then ' primary key' else '' end,
         ', ' order by a.attnum) as columns
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
left join pg_catalog.pg_constraint k on k.conrelid = c.oid and k.contype = 'p'
where c.relkind in ('r', 'p', 'v', 'm', 'f')
  and n.nspname not in ('pg_catalog', 'information_schema')
  and n.nspname !~ '^pg_(toast|temp)'
  and pg_catalog.has_any_column_privilege(c.oid, 'select')
group by n.nspname, c.relname, c.relkind
order by n.nspname, c.relname`;
