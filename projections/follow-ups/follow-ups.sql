create table follow_up (
  follow_up_id    text primary key,
  conversation_id text not null,
  owner_id        text not null,
  source          text not null,
  ref_id          text not null,
  dedupe_key      text not null,
  -- pending, claimed, delivered, merged, suppressed, superseded or failed
  state           text not null,
  -- Why it was suppressed or failed.
  reason          text,
  text_head       text not null,
  turn_id         text,
  requested_at    timestamptz not null,
  settled_at      timestamptz
);
create index follow_up_of_owner on follow_up (owner_id, requested_at desc, follow_up_id desc);
create index follow_up_settled on follow_up (settled_at, conversation_id) where settled_at is not null;
create index follow_up_waiting on follow_up (requested_at, conversation_id) where state in ('pending', 'claimed');

-- Turns that have not ended. No automatic turn begins in their conversations.
create table turn_under_way (
  turn_id         text primary key,
  conversation_id text not null
);
create index turn_of_conversation on turn_under_way (conversation_id);
