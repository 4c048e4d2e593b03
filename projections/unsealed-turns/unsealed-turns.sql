create table unsealed_turn (
  turn_id         text primary key,
  conversation_id text not null,
  -- The last process that claimed the turn.
  producer        text,
  -- When its pause expires; null if it is not paused.
  expires_at      timestamptz,
  since           timestamptz not null,
  -- The agent that answers, if a user asked and not a caller with the agent's key.
  agent_id        text
);
create index unsealed_turn_by_agent on unsealed_turn (agent_id) where agent_id is not null;
-- The sweeps ask for these turns each second. An index for each leaves out the paused turns, which may be many.
create index unsealed_turn_untaken on unsealed_turn (since, turn_id) where producer is null and expires_at is null;
create index unsealed_turn_taken on unsealed_turn (producer) where producer is not null and expires_at is null;
create index unsealed_turn_paused on unsealed_turn (expires_at, turn_id) where expires_at is not null;
