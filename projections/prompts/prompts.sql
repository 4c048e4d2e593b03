create table prompt (
  prompt_id   text primary key,
  owner_id    text not null,
  name        text not null,
  content     text not null,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  -- of a prompt that an import of an agent brings along, until the agent is there
  import_id   text
);
create index prompt_of_import on prompt (import_id) where import_id is not null;
create index prompt_by_owner on prompt (owner_id, created_at);
