create table unsealed_turn (
  turn_id         text primary key,
  conversation_id text not null,
  -- Who took it last; while the turn is paused, whoever ran it until then.
  producer        text,
  -- Until when it waits for decisions; null when it does not.
  expires_at      timestamptz,
  since           timestamptz not null,
  -- The agent that answers where it was asked by a user, and not with its key.
  agent_id        text
);
create index unsealed_turn_by_agent on unsealed_turn (agent_id) where agent_id is not null;
