-- A stream can be truncated: events below this revision are deleted.
alter table event_store.stream add column truncate_before integer check (truncate_before >= 0);

create or replace function event_store.scavenge(stream_number bigint, events_max integer) returns integer language plpgsql as $$
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
      and (
        old.revision <= bounds.revision - bounds.max_count
        or old.revision < bounds.truncate_before
        or old.at <= now() - bounds.max_age_seconds * interval '1 second'
      )
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
