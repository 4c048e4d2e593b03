-- The contents of all schemas except the server's own, a line each. Functions are listed by their signature.
with own as (
  select oid, nspname from pg_namespace where nspname not in ('information_schema', 'public') and nspname !~ '^pg_'
), relation as (
  select c.oid, c.relname, c.relkind, c.reloptions, own.nspname from pg_class c join own on own.oid = c.relnamespace
), line (schema, "table", rank, place, text) as (
  select nspname, '', 0, 0, format('function %s(%s) returns %s', proname, pg_get_function_identity_arguments(p.oid), pg_get_function_result(p.oid))
  from pg_proc p join own on own.oid = p.pronamespace
  union all
  select nspname, '', 0, 0, format('text search configuration %s', cfgname)
  from pg_ts_config t join own on own.oid = t.cfgnamespace
  union all
  select nspname, '', 0, 0, format('sequence %s as %s', relname, format_type(s.seqtypid, null))
  from pg_sequence s join relation on relation.oid = s.seqrelid
  where not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = s.seqrelid and d.deptype in ('a', 'i'))
  union all
  select nspname, relname, 1, a.attnum, concat_ws(' ',
    a.attname,
    format_type(a.atttypid, a.atttypmod),
    case when a.attcollation <> y.typcollation then format('collate %I', o.collname) end,
    case when a.attnotnull then 'not null' end,
    case when a.attidentity <> '' then 'generated as identity' end,
    case when d.adbin is not null then format(case when a.attgenerated <> '' then 'generated as (%s)' else 'default %s' end, pg_get_expr(d.adbin, d.adrelid)) end)
  from pg_attribute a
  join relation on relation.oid = a.attrelid and relation.relkind in ('r', 'p', 'v', 'm')
  join pg_type y on y.oid = a.atttypid
  left join pg_collation o on o.oid = a.attcollation
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attnum > 0 and not a.attisdropped
  union all
  -- NOT NULL is listed with its column. Newer servers have a constraint for it too.
  select nspname, relname, 2, 0, format('constraint %s %s', conname, pg_get_constraintdef(k.oid))
  from pg_constraint k join relation on relation.oid = k.conrelid
  where k.contype <> 'n'
  union all
  select nspname, relname, 3, 0, pg_get_indexdef(i.indexrelid)
  from pg_index i join relation on relation.oid = i.indrelid
  where not exists (select from pg_constraint k where k.conindid = i.indexrelid)
  union all
  select nspname, relname, 4, 0, pg_get_triggerdef(t.oid)
  from pg_trigger t join relation on relation.oid = t.tgrelid
  where not t.tgisinternal
  union all
  select nspname, relname, 5, 0, format('with (%s)', array_to_string(reloptions, ', '))
  from relation
  where relkind = 'r' and reloptions is not null
)
select schema, "table", text from line
order by schema collate "C", "table" collate "C", rank, place, text collate "C";
