create table workflow (
  workflow_id  text primary key,
  owner_id     text not null,
  name         text not null,
  description  text not null,
  -- of its newest graph, which the stream has
  version      integer not null,
  created_at   timestamptz not null,
  updated_at   timestamptz not null
);
create index workflow_by_owner on workflow (owner_id, created_at);
