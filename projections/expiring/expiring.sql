-- Runs that webhooks have started, with the place of their delivery in the log.
create table webhook_run (
  run_id            text primary key,
  delivery_stream   text not null,
  delivery_revision integer not null,
  -- When the run ended.
  since             timestamptz
);
create index webhook_run_over on webhook_run (since, run_id) where since is not null;

-- The outputs of scheduled runs.
create table scheduled_output (
  run_id      text primary key,
  -- Null if the output is not among the newest of its schedule, which are kept, and once the schedule is deleted.
  schedule_id text,
  queued_at   timestamptz not null,
  -- When the output was stored.
  since       timestamptz
);
create index scheduled_output_said on scheduled_output (since, run_id) where since is not null and schedule_id is null;
create index scheduled_output_newest on scheduled_output (schedule_id, queued_at desc, run_id) where schedule_id is not null;

-- Sealed journals.
create table journal (
  turn_id text primary key,
  since   timestamptz not null
);
create index journal_sealed on journal (since, turn_id);

-- Plans and findings of researches, by turns and by runs.
create table research (
  turn_id text primary key,
  -- When the turn or the run ended; before, when the research began.
  since   timestamptz not null
);
create index research_over on research (since, turn_id);

-- Stored responses of the OpenAI dialect, by their creation.
create table response (
  response_id text primary key,
  since       timestamptz not null
);
create index response_created on response (since, response_id);
create index response_of_turn on response (left(response_id, 36));

-- States of paused turns that are stored outside the log and belong to one turn each.
create table continuation (
  sha256  text primary key,
  turn_id text not null,
  -- When the turn ended.
  since   timestamptz
);
create index continuation_of_turn on continuation (turn_id);
create index continuation_over on continuation (since, sha256) where since is not null;

-- Unfinished sign-ins at tool servers, with their deadlines.
create table sign_in (
  handshake_id text primary key,
  since        timestamptz not null
);
create index sign_in_overdue on sign_in (since, handshake_id);

-- Deleted conversations whose texts are not purged yet.
create table deleted_conversation (
  conversation_id text primary key,
  since           timestamptz not null
);
create index deleted_conversation_since on deleted_conversation (since, conversation_id);
