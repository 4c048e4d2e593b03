create table monitor (
  monitor_id       text primary key,
  owner_id         text not null,
  conversation_id  text not null,
  agent_id         text,
  -- active, paused, completed or cancelled
  status           text not null,
  definition       jsonb not null,
  created_at       timestamptz not null,
  expires_at       timestamptz not null,
  -- Also while it is paused and not checked.
  next_check_at    timestamptz not null,
  -- When a worker has to act: at its next check, at the end of a claim, or at its own end. Null: never.
  due_at           timestamptz,
  last_checked_at  timestamptz,
  last_changed_at  timestamptz,
  last_follow_up_at timestamptz,
  check_count      integer not null default 0,
  follow_up_count  integer not null default 0,
  last_error       text,
  paused_reason    text
);
create index monitor_due on monitor (due_at, monitor_id) where due_at is not null;
create index monitor_by_owner on monitor (owner_id, created_at desc, monitor_id);
create index monitor_by_conversation on monitor (conversation_id) where status in ('active', 'paused');
