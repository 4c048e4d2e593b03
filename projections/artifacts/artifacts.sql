create table artifact (
  artifact_id     text primary key,
  owner_id        text not null,
  conversation_id text,
  workflow_run_id text,
  message_id      text,
  kind            text not null,
  title           text not null,
  metadata        json not null,
  current_version integer not null,
  -- The size of all its versions. A restored version shares the bytes of an earlier one.
  bytes           bigint not null,
  created_at      timestamptz not null,
  updated_at      timestamptz not null
);
create index artifact_of_owner on artifact (owner_id, created_at, artifact_id) include (bytes);
create index artifact_of_conversation on artifact (conversation_id) where conversation_id is not null;
create index artifact_of_workflow_run on artifact (workflow_run_id) where workflow_run_id is not null;

create table version (
  artifact_id  text not null,
  version      integer not null,
  filename     text not null,
  mime_type    text not null,
  size         bigint not null,
  sha256       text not null,
  blob         text not null,
  blob_size    bigint not null,
  preview_text text,
  produced_by  json not null,
  spec         json,
  created_at   timestamptz not null,
  primary key (artifact_id, version)
);
