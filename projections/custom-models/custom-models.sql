create table custom_model (
  model_id           text primary key,
  owner_id           text not null,
  display_name       text not null,
  description        text not null,
  upstream_model_id  text not null,
  base_url           text not null,
  credentials_id     text not null,
  capabilities       json not null,
  enabled            boolean not null,
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  -- The import that has written the model, until the import is complete.
  import_id          text
);
create index custom_model_of_import on custom_model (import_id) where import_id is not null;
create index custom_model_by_owner on custom_model (owner_id, created_at);
