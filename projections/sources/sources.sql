create table source (
  source_id      text primary key,
  owner_id       text not null,
  name           text not null,
  config         jsonb not null,
  -- {"kind": …, "urls": […]} if pages are fetched
  remote         jsonb,
  -- [{"filename": …, "sha256": …, "size": …, "url": …}]: the searched files, or those of an upload that is not ingested yet
  files          jsonb not null default '[]',
  -- The pages of an ingestion in progress.
  fetched_files  jsonb,
  ingest_id      text,
  -- requested, started, completed or failed
  ingest_status  text not null default 'requested',
  ingest_reason  text,
  chunks         integer not null default 0,
  tokens         bigint not null default 0,
  -- never, daily, weekly or monthly
  sync_frequency text not null default 'never',
  next_sync_at   timestamptz,
  created_at     timestamptz not null
);
create index source_by_owner on source (owner_id, created_at desc, source_id);
create index source_by_ingest on source (ingest_id);
create index source_by_next_sync on source (next_sync_at, source_id) where next_sync_at is not null;
