create table workflow (
  workflow_id  text primary key,
  owner_id     text not null,
  name         text not null,
  description  text not null,
  -- The version of the newest graph, which is in the stream.
  version      integer not null,
  created_at   timestamptz not null,
  updated_at   timestamptz not null
);
-- Changes that an unfinished import has written. Readers see the workflow without them.
create table held_change (
  workflow_id  text primary key,
  import_id    text not null,
  name         text not null,
  description  text not null,
  version      integer not null,
  updated_at   timestamptz not null
);
create index held_change_by_import on held_change (import_id);
create index workflow_by_owner on workflow (owner_id, created_at);
