create table wake (
  wake_id         text primary key,
  conversation_id text not null,
  owner_id        text not null,
  source          text not null,
  ref_id          text not null,
  dedupe_key      text not null,
  -- pending, claimed, delivered, folded, suppressed, superseded or failed
  state           text not null,
  -- why it was suppressed, or failed
  reason          text,
  text_head       text not null,
  turn_id         text,
  requested_at    timestamptz not null,
  settled_at      timestamptz
);
create index wake_of_owner on wake (owner_id, requested_at desc, wake_id desc);
create index wake_settled on wake (settled_at, conversation_id) where settled_at is not null;
create index wake_waiting on wake (requested_at, conversation_id) where state in ('pending', 'claimed');

-- The turns of conversations that are not over: until then nothing wakes them.
create table turn_under_way (
  turn_id         text primary key,
  conversation_id text not null
);
create index turn_of_conversation on turn_under_way (conversation_id);
