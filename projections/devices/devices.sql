create table device (
  device_id text primary key,
  owner_id  text not null,
  name      text not null,
  paired_at timestamptz not null
);
create index device_of_owner on device (owner_id, paired_at);

create table invocation (
  invocation_id    text primary key,
  device_id        text not null,
  owner_id         text not null,
  user_id          text not null,
  agent_id         text,
  conversation_id  text not null,
  action           text not null,
  command          text not null,
  command_sha256   text not null,
  working_dir      text not null,
  approval_mode    text not null,
  decision_reason  text not null,
  approved_by      text not null,
  -- requested, dispatched, accepted, auto_approved, denied, expired or outcome_unknown
  decision         text not null,
  -- Whether the device may still report on it.
  is_open          boolean not null,
  is_waiting       boolean not null,
  issued_at        timestamptz not null,
  deadline         timestamptz not null,
  started_at       timestamptz,
  finished_at      timestamptz,
  exit_code        bigint,
  duration_ms      bigint,
  stdout_bytes     bigint not null default 0,
  stderr_bytes     bigint not null default 0,
  stdout_sha256    text,
  stderr_sha256    text,
  error            text
);
create index invocation_of_device on invocation (device_id, issued_at desc);
create index open_invocation on invocation (deadline) where is_open;
create index waiting_invocation on invocation (device_id) where is_waiting;
