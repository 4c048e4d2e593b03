create table conversation (
  conversation_id text primary key,
  owner_id        text not null,
  agent_id        text,
  -- With which key of the agent it was begun, or by the reader of which link, where it was.
  agent_key_id    text,
  name            text not null,
  visibility      text not null,
  shared_usage    boolean not null,
  started_at      timestamptz not null,
  -- The revision of the last event with which its owner opened it.
  opened          integer not null default -1,
  -- What the sidebar says of it, which follows from its turns, the work beside them and the openings.
  unread          boolean not null default false,
  mark            text,
  -- Whether that is red or amber.
  needs_owner     boolean not null default false,
  -- The newest link that has not ended.
  share_id        text
  -- Its mark changes with every turn: room for that on the same page leaves the indexes alone.
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
  -- What went with the question: [{"id": …, "filename": …, "mimeType": …}]
  attachments     json not null default '[]',
  -- The workflow run that answers it, where the agent is a workflow.
  workflow_run_id text,
  response        text not null default '',
  thought         text not null default '',
  sources         json not null default '[]',
  tool_calls      json not null default '[]',
  -- The calls that a paused turn waits for, and whether the owner is to decide on any of them.
  pending         json not null default '[]',
  needs_approval  boolean not null default false,
  waits_until     timestamptz,
  structured      boolean not null default false,
  -- How it came about, where nobody asked.
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
  -- The revision of the event that ended it, which is in the same stream as the openings.
  ended           integer
  -- It is sealed after its answer is there: room for that on the same page leaves the indexes alone, which hold its texts.
) with (fillfactor = 60);
-- Links that show turns as they ended; their tokens are derived from their ids.
create table share (
  share_id        text primary key,
  conversation_id text not null,
  owner_id        text not null,
  token_hash      text not null unique,
  -- What the conversation was called when it was shared.
  title           text not null,
  turn_ids        json not null,
  -- Where its readers may ask: whom, and with what. {"agentId": …, "promptId": …, "sourceId": …, "chunks": …}
  terms           json,
  shared_at       timestamptz not null
);
create index share_of_conversation on share (conversation_id, shared_at);

-- What goes on beside the turns: a job or a monitor, and whether it is active, over or failed.
create table work (
  work_id         text primary key,
  conversation_id text not null,
  kind            text not null,
  status          text not null,
  -- The revision at which that was noted, which is in the same stream as the openings.
  noted           integer not null
);
create index work_of_conversation on work (conversation_id);

create index turn_of_conversation on turn (conversation_id, index);
-- For the mark: what is unfinished, and what ended since an opening.
create index turn_that_counts on turn (conversation_id, ended) where not superseded;
-- There is little anywhere that is not finished.
create index turn_open on turn (asked_at) where ended is null and not superseded;
-- For logs and counts, which would otherwise read the pages with all texts.
create index turn_newest on turn (changed_at desc, turn_id desc) include (conversation_id) where ended is not null and not superseded;
create index turn_asked on turn (asked_at) include (conversation_id) where not superseded;
create index turn_rated on turn (feedback_at) where feedback_at is not null;

-- The search has these where the server has pg_trgm, or lets it be made. Without them it reads the texts themselves.
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
