create table conversation (
  conversation_id text primary key,
  owner_id        text not null,
  agent_id        text,
  -- The agent key with which it was begun, or `link:` and the id of the link.
  agent_key_id    text,
  name            text not null,
  visibility      text not null,
  shared_usage    boolean not null,
  started_at      timestamptz not null,
  -- The revision of the event of the last opening by its owner.
  opened          integer not null default -1,
  -- The sidebar mark, which follows from the turns, the work and the openings.
  unread          boolean not null default false,
  mark            text,
  -- Whether the mark is red or amber.
  needs_owner     boolean not null default false,
  -- The newest link that has not ended.
  share_id        text
  -- Each turn changes the mark. If the new row fits on the same page, no index changes.
) with (fillfactor = 80);
create index conversation_of_owner on conversation (owner_id, started_at desc, conversation_id desc) where visibility = 'listed';
create index conversation_needing_owner on conversation (owner_id, started_at desc, conversation_id desc)
  where visibility = 'listed' and needs_owner;
create index conversation_by_owner on conversation (owner_id);
create index conversation_by_agent on conversation (agent_id) where agent_id is not null;

create table turn (
  turn_id         text primary key,
  conversation_id text not null,
  index           integer not null,
  superseded      boolean not null default false,
  status          text not null,
  question        text not null,
  request_id      text not null,
  model_id        text not null,
  -- The agent that was asked, which may be another one than the conversation's. Null for an added answer.
  asked_agent_id  text,
  -- The attachments of the question: [{"id": …, "filename": …, "mimeType": …}]
  attachments     json not null default '[]',
  -- The workflow run that answers it, if the agent is a workflow.
  workflow_run_id text,
  response        text not null default '',
  thought         text not null default '',
  sources         json not null default '[]',
  tool_calls      json not null default '[]',
  -- The calls for which a paused turn waits, and whether the owner must decide on one of them.
  pending         json not null default '[]',
  needs_approval  boolean not null default false,
  waits_until     timestamptz,
  structured      boolean not null default false,
  -- The origin of an automatic turn.
  origin          json,
  error           text,
  error_code      text,
  -- Which guardrail stopped it: {"stage": …, "categories": […], "checks": […]}
  guardrail       json,
  feedback        text,
  feedback_at     timestamptz,
  sealed          boolean not null default false,
  asked_at        timestamptz not null,
  changed_at      timestamptz not null,
  -- The revision of the event that ended it, in the stream of the openings.
  ended           integer
  -- The seal changes the row after the answer. If it fits on the same page, the indexes with its texts do not change.
) with (fillfactor = 60);
-- Links that show ended turns. Their tokens are derived from their ids.
create table share (
  share_id        text primary key,
  conversation_id text not null,
  owner_id        text not null,
  token_hash      text not null unique,
  -- The name of the conversation when it was shared.
  title           text not null,
  turn_ids        json not null,
  -- The agent and settings with which readers may ask, or null: {"agentId": …, "promptId": …, "sourceId": …, "chunks": …}
  terms           json,
  shared_at       timestamptz not null
);
create index share_of_conversation on share (conversation_id, shared_at);

-- Jobs and monitors of a conversation, and whether each is active, over or failed.
create table work (
  work_id         text primary key,
  conversation_id text not null,
  kind            text not null,
  status          text not null,
  -- The revision of the event that reported the status, in the stream of the openings.
  noted           integer not null
);
create index work_of_conversation on work (conversation_id);

create index turn_of_conversation on turn (conversation_id, index);
-- For the mark: unfinished turns, and turns that ended since an opening.
create index turn_that_counts on turn (conversation_id, ended) where not superseded;
-- Few turns are unfinished.
create index turn_open on turn (asked_at) where ended is null and not superseded;
-- For logs and counts, which would otherwise read the pages with the texts.
create index turn_newest on turn (changed_at desc, turn_id desc) include (conversation_id, asked_agent_id)
  where ended is not null and not superseded;
create index turn_asked on turn (asked_at) include (conversation_id, asked_agent_id) where not superseded;
create index turn_rated on turn (feedback_at) where feedback_at is not null;

-- Indexes of the search, if the server has pg_trgm or allows to create it. Without them the search reads the texts.
do $$
declare
  found_in text;
begin
  perform pg_advisory_xact_lock(hashtextextended('extensions', 0));
  begin
    create extension if not exists pg_trgm schema public;
  exception when insufficient_privilege or undefined_file or feature_not_supported or invalid_parameter_value then
    null;
  end;
  select quote_ident(nspname) into found_in
    from pg_extension join pg_namespace on pg_namespace.oid = extnamespace where extname = 'pg_trgm';
  if found_in is not null then
    execute format('create index turn_text on turn
      using gin (lower(question) %1$s.gin_trgm_ops, lower(response) %1$s.gin_trgm_ops)
      where ended is not null and not superseded', found_in);
    execute format('create index conversation_name on conversation
      using gin (lower(name) %s.gin_trgm_ops) where visibility = %L', found_in, 'listed');
  end if;
end $$;
