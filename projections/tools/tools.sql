create table tool (
  tool_id         text primary key,
  owner_id        text not null,
  revision        integer not null,
  name            text not null,
  display_name    text not null,
  custom_name     text not null,
  description     text not null,
  config          json not null,
  credentials_id  text,
  actions         json not null,
  status          boolean not null,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  -- The import that has written the tool, until the import is complete.
  import_id       text
);
create index tool_of_import on tool (import_id) where import_id is not null;
create index tool_by_owner on tool (owner_id, created_at);

create table default_tool_off (
  user_id  text not null,
  name     text not null,
  primary key (user_id, name)
);
