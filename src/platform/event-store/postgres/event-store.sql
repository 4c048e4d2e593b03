-- One row per stream that was ever appended to, or was given bounds. Names compare by bytes, whatever the database's locale.
create table event_store.stream (
  number bigint generated always as identity primary key,
  name text collate "C" not null unique,
  category text collate "C" not null,
  -- The revision of its newest event; -1 before the first.
  revision integer not null,
  max_age_seconds integer check (max_age_seconds > 0),
  max_count integer check (max_count > 0),
  -- The time at which its events are next checked for deletion, because some may be outside its bounds by then.
  scavenge_at timestamptz
) with (fillfactor = 80);

create index stream_to_scavenge on event_store.stream (scavenge_at) where scavenge_at is not null;

create sequence event_store.position as bigint minvalue 0 start 0 cache 1;

-- The log. Payloads are text and not jsonb, which would reorder keys and rewrite numbers.
create table event_store.event (
  position bigint primary key,
  stream bigint not null,
  revision integer not null,
  category text collate "C" not null,
  id uuid not null,
  at timestamptz not null,
  type text not null,
  data text not null,
  metadata text not null,
  unique (stream, revision)
) with (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

-- The frames of messages are most of the log, and most readers want everything else.
create index event_but_frames on event_store.event (position) where category <> 'message';

-- The time of the next check for events to delete, after an append: the time that is noted already, or else the time at which
-- the new events may be outside the bounds.
create function event_store.next_scavenge(s event_store.stream, now_at timestamptz) returns timestamptz language sql stable as $$
  select coalesce(s.scavenge_at, now_at + coalesce(s.max_age_seconds, case when s.max_count is not null then 3600 end) * interval '1 second')
$$;

-- Appends many batches of events, each on its own expected revision (-1: no stream) and each with its own outcome.
-- Events name their append by its place in the array. The lock makes one log of all writers: positions are taken and
-- become visible in one order, so that a reader who has seen a position has seen everything before it.
create function event_store.append(
  append_stream text[], append_expected integer[], append_count integer[],
  event_append integer[], event_revision integer[], event_id uuid[], event_type text[], event_data text[], event_metadata text[]
) returns table (append integer, revision integer, log_position bigint, at timestamptz, written_now boolean, counted boolean)
language plpgsql
-- The planner must neither read whole tables to find a few streams, nor plan anew each time.
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  now_at timestamptz;
  written integer;
  own_stream event_store.stream;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'An append must see what was committed while it waited for the lock.' using errcode = 'feature_not_supported';
  end if;
  perform pg_advisory_xact_lock(7306093881446135);
  -- In milliseconds, as programs read it, so that an event has the same time wherever it is read.
  now_at := date_trunc('milliseconds', clock_timestamp());

  if cardinality(append_stream) = 1 then
    -- A single append, the usual case under little load, takes a third less time here than in the statement below.
    update event_store.stream s
    set revision = s.revision + append_count[1], scavenge_at = event_store.next_scavenge(s, now_at)
    where s.name = append_stream[1] and s.revision = append_expected[1]
    returning s.* into own_stream;
    if own_stream.number is null and append_expected[1] = -1 then
      insert into event_store.stream (name, category, revision)
      values (append_stream[1], split_part(append_stream[1], '-', 1), append_count[1] - 1)
      on conflict (name) do nothing
      returning * into own_stream;
    end if;
    if own_stream.number is not null then
      insert into event_store.event (position, stream, revision, category, id, at, type, data, metadata)
      select nextval('event_store.position'), own_stream.number, e.revision, own_stream.category, e.id, now_at, e.type, e.data, e.metadata
      from unnest(event_revision, event_id, event_type, event_data, event_metadata) as e (revision, id, type, data, metadata);
      return query select 1, own_stream.revision, currval('event_store.position'), now_at, true, own_stream.max_count is not null;
      return;
    end if;
  end if;

  return query
  with wanted as materialized (
    select * from unnest(append_stream, append_expected, append_count) with ordinality as a (stream, expected, count, append)
  ), picked as materialized (
    -- Of several appends to one stream the first that fits; the others lose to it below.
    select distinct on (w.stream) w.*, s.number, s.category, s.max_count is not null as counted
    from wanted w left join event_store.stream s on s.name = w.stream
    where coalesce(s.revision, -1) = w.expected
    order by w.stream, w.append
  ), created as (
    insert into event_store.stream (name, category, revision)
    select p.stream, split_part(p.stream, '-', 1), p.count - 1 from picked p where p.number is null
    -- If another transaction has just created the row to set bounds, the append is sent again.
    on conflict (name) do nothing
    returning number, name, category
  ), moved as (
    update event_store.stream s
    set revision = p.expected + p.count,
        scavenge_at = event_store.next_scavenge(s, now_at)
    from picked p where s.number = p.number
  ), won as (
    select p.append, p.expected + p.count as revision, p.number, p.category, p.counted from picked p where p.number is not null
    union all
    select p.append, p.count - 1, c.number, c.category, false from picked p join created c on c.name = p.stream
  ), written as (
    insert into event_store.event (position, stream, revision, category, id, at, type, data, metadata)
    select nextval('event_store.position'), e.stream, e.revision, e.category, e.id, now_at, e.type, e.data, e.metadata
    from (
      select w.number as stream, w.category, e.*
      from unnest(event_append, event_revision, event_id, event_type, event_data, event_metadata)
        with ordinality as e (append, revision, id, type, data, metadata, place)
      join won w on w.append = e.append
      order by e.place
    ) e
    returning position, stream, revision
  )
  select w.append::integer, w.revision, e.position, now_at, true, w.counted
  from won w join written e on e.stream = w.number and e.revision = w.revision
  order by e.position;

  get diagnostics written = row_count;
  if written < cardinality(append_stream) then
    -- Some appends were not written. An append whose events are stored under the same ids is a repetition. For the others, the
    -- current revision of their stream is returned.
    return query
    select a.append::integer, coalesce(done.revision, s.revision, -1), done.position, now_at, false, false
    from unnest(append_stream, append_expected, append_count) with ordinality as a (stream, expected, count, append)
    left join event_store.stream s on s.name = a.stream
    left join lateral (
      select max(e.revision) as revision, max(e.position) as position
      from unnest(event_append, event_revision, event_id) as n (append, revision, id)
      join event_store.event e on e.stream = s.number and e.revision = n.revision and e.id = n.id
      where n.append = a.append
      having count(*) = a.count
    ) done on true;
  end if;
end $$;

-- Deletes events outside the bounds of their stream, oldest first and at most `events_max`, and returns their number. Once none is
-- left, it notes the time of the next check.
create function event_store.scavenge(stream_number bigint, events_max integer) returns integer language plpgsql as $$
declare
  bounds event_store.stream;
  deleted integer;
begin
  select * into bounds from event_store.stream s where s.number = stream_number;
  perform set_config('event_store.scavenging', 'on', true);
  delete from event_store.event e
  where e.stream = stream_number and e.revision in (
    select old.revision from event_store.event old
    where old.stream = stream_number
      and (old.revision <= bounds.revision - bounds.max_count or old.at <= now() - bounds.max_age_seconds * interval '1 second')
    order by old.revision limit events_max
  );
  get diagnostics deleted = row_count;
  perform set_config('event_store.scavenging', 'off', true);
  if deleted < events_max then
    -- While the row is locked, no append can change the stream between this check and the note.
    perform from event_store.stream s where s.number = stream_number for update;
    update event_store.stream s
    set scavenge_at = (
      select case
        when s.max_count is not null then now() + interval '1 hour'
        else min(e.at) + s.max_age_seconds * interval '1 second'
      end
      from event_store.event e where e.stream = stream_number and e.revision = (
        select o.revision from event_store.event o where o.stream = stream_number order by o.revision limit 1
      )
    )
    where s.number = stream_number;
  end if;
  return deleted;
end $$;

-- Events are never changed, and deleted only where the bounds of their stream already hide them.
create function event_store.refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('event_store.scavenging', true) = 'on' then return null; end if;
  raise exception 'Events are never changed (% on %).', tg_op, tg_table_name using errcode = 'insufficient_privilege';
end $$;

create trigger append_only before update or delete or truncate on event_store.event
for each statement execute function event_store.refuse_change();
