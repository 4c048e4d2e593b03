create table prompt (
  prompt_id   text primary key,
  owner_id    text not null,
  name        text not null,
  content     text not null,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  -- The import that has written the prompt, until the import is complete.
  import_id   text
);
create index prompt_of_import on prompt (import_id) where import_id is not null;
create index prompt_by_owner on prompt (owner_id, created_at);
