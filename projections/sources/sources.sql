create table source (
  source_id      text primary key,
  owner_id       text not null,
  name           text not null,
  config         jsonb not null,
  -- [{"filename": …, "sha256": …, "size": …}]
  files          jsonb not null default '[]',
  ingest_id      text,
  -- requested, started, completed or failed
  ingest_status  text not null default 'requested',
  ingest_reason  text,
  chunks         integer not null default 0,
  tokens         bigint not null default 0,
  created_at     timestamptz not null
);
create index source_by_owner on source (owner_id, created_at desc, source_id);
create index source_by_ingest on source (ingest_id);
