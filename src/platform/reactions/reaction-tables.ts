import type { PendingQuery, Row, Sql, TransactionSql } from 'postgres';
import { type EventStore, isPlaceIn, LOG_START, type StoredEvent } from '../../kernel/event-sourcing/event-store.js';
import { asTimestamp } from '../../../projections/timestamps.js';
import { hasColumn, hasTable } from '../postgres/catalog.js';
import { SharedCalls } from '../shared-calls.js';
import { describeFault } from '../supervision/described-fault.js';

/** What a process finds when it takes a reaction over: its checkpoint, and the streams with parked events. */
export type TakenReaction = Readonly<{ position: bigint; epoch: bigint; parkedStreams: readonly string[] }>;

/** The position up to which all events are done, and the time of the last one. */
export type Progressed = Readonly<{ position: bigint; eventAt: Date | null }>;

type Save = Progressed & Readonly<{ reaction: string; epoch: bigint }>;

/** Another process runs the reaction now. */
class ReactionFencedOut extends Error {
  override readonly name = 'ReactionFencedOut';
  constructor(reaction: string) {
    super(`Another process has taken over the reaction ${reaction}.`);
  }
}

/** A parked event. Its text is only in the log, so that a purge reaches it. */
export type ParkedEvent = Pick<StoredEvent, 'stream' | 'revision' | 'position'>;

/** Creates the tables of all reactions, and changes those of earlier versions. Several processes may do so concurrently. */
export async function createReactionTables(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended('verbatim:reaction-tables', 0))`;
    await tx.unsafe(`
      create schema if not exists reactions;
      create table if not exists reactions.reaction_checkpoint (
        reaction text primary key,
        position bigint not null,
        event_at timestamptz,
        epoch    bigint not null
      );
      create table if not exists reactions.parked (
        reaction text not null,
        position bigint not null,
        stream   text not null,
        type     text not null,
        error    text not null,
        since    timestamptz not null default now(),
        retry    boolean not null default false,
        revision integer not null,
        primary key (reaction, position)
      );
    `);
    await keepRevisions(tx);
  });
}

/** Earlier versions of the program kept a copy of each parked event. */
async function keepRevisions(tx: TransactionSql): Promise<void> {
  if (!(await hasColumn(tx, 'reactions', 'parked', 'event'))) return;
  await tx.unsafe(`
    alter table reactions.parked add column revision integer;
    update reactions.parked set revision = (event::json ->> 'revision')::integer;
    alter table reactions.parked alter column revision set not null, drop column event;
  `);
}

/** How much of a restored log, before its end, all reactions repeat. */
const REPEATED_MS = 10 * 60_000;

/**
 * After the log was restored from an older backup, moves the reactions back to a place at least ten minutes before its end, and
 * returns their names. They have acted on all events that are left, but what they appended about the last of these may be lost with
 * the rest. A repeated reaction does nothing where its effect is left. Parked events that the log no longer has are dropped. Does
 * nothing if the log holds all that the reactions have followed.
 */
export async function takeBackReactions(sql: Sql, log: Pick<EventStore, 'end' | 'readAll'>): Promise<readonly string[]> {
  if (!(await hasTable(sql, 'reactions', 'reaction_checkpoint'))) return [];
  const reached = await sql<{ position: string }[]>`
    select position::text from reactions.reaction_checkpoint union select position::text from reactions.parked`;
  // Read afterwards, because a running service appends events and reacts to them in the meantime.
  const head = await log.end();
  const lost: string[] = [];
  for (const { position } of reached) {
    if (BigInt(position) > head || !(await isPlaceIn(log, BigInt(position)))) lost.push(position);
  }
  if (lost.length === 0) return [];
  await sql`delete from reactions.parked where position = any(${lost}::bigint[])`;
  const place = String(await placeBeforeEnd(log));
  const rows = await sql<{ reaction: string }[]>`
    with locked as (
      select reaction from reactions.reaction_checkpoint where position > ${place} or position = any(${lost}::bigint[])
      order by reaction for update
    )
    update reactions.reaction_checkpoint as checkpoint set position = ${place}, epoch = epoch + 1 from locked
    where checkpoint.reaction = locked.reaction returning checkpoint.reaction`;
  return rows.map(({ reaction }) => reaction).sort();
}

/** The end of the last page of the log that is older than its newest event by REPEATED_MS. */
async function placeBeforeEnd(log: Pick<EventStore, 'readAll'>): Promise<bigint> {
  const pages = [{ position: LOG_START, at: -Infinity }];
  for await (const { events } of log.readAll({ after: LOG_START })) {
    const last = events.at(-1);
    if (!last) continue;
    pages.push({ position: last.position, at: last.at.getTime() });
    while (pages[1]!.at < last.at.getTime() - REPEATED_MS) pages.shift();
  }
  return pages[0]!.position;
}

/** The stored states of all reactions. */
export class ReactionTables {
  private readonly nextEpochs: SharedCalls<string, TakenReaction | undefined>;
  private readonly saves: SharedCalls<Save, boolean>;

  constructor(private readonly sql: Sql) {
    // Each reaction asks once at a time.
    const all = { requestsMax: Infinity };
    this.nextEpochs = new SharedCalls((reactions) => nextEpochs(sql, reactions), all);
    this.saves = new SharedCalls((saves) => saveAll(sql, saves), all);
  }

  of(reaction: string): ReactionTable {
    return new ReactionTable(this.sql, reaction, {
      nextEpoch: () => this.nextEpochs.call(reaction, Infinity),
      save: ({ position, eventAt }, epoch) => this.saves.call({ reaction, position, eventAt, epoch }, Infinity),
    });
  }
}

/** The statements that all reactions of a process share. */
type Shared = Readonly<{
  /** Undefined if the reaction has no epoch yet. */
  nextEpoch: () => Promise<TakenReaction | undefined>;
  /** False if the epoch is over. */
  save: (progressed: Progressed, epoch: bigint) => Promise<boolean>;
}>;

/** Increments the epochs of the reactions. Undefined for those that have none yet. */
async function nextEpochs(sql: Sql, reactions: readonly string[]): Promise<readonly (TakenReaction | undefined)[]> {
  // In one order, so that two processes never deadlock.
  const taken = await sql<{ reaction: string; position: string; epoch: string }[]>`
    with locked as (
      select reaction from reactions.reaction_checkpoint where reaction = any(${[...reactions]}::text[]) order by reaction for update
    )
    update reactions.reaction_checkpoint as checkpoint set epoch = epoch + 1 from locked
    where checkpoint.reaction = locked.reaction
    returning checkpoint.reaction, position::text, epoch::text`;
  // Read afterwards: until then, the processes that have run them may park events.
  const parked = await sql<{ reaction: string; stream: string }[]>`
    select distinct reaction, stream from reactions.parked where reaction = any(${taken.map(({ reaction }) => reaction)}::text[])`;
  return reactions.map((name) => {
    const row = taken.find(({ reaction }) => reaction === name);
    const parkedStreams = parked.filter(({ reaction }) => reaction === name).map(({ stream }) => stream);
    return row && { position: BigInt(row.position), epoch: BigInt(row.epoch), parkedStreams };
  });
}

/**
 * Saves the progress of reactions without waiting for the disk, which appends would wait for, too. A crash of the server may lose
 * the last saves, and the reactions act on these events again, as after a crash between an effect and its save.
 */
async function saveAll(sql: Sql, saves: readonly Save[]): Promise<readonly boolean[]> {
  const saved = await sql<{ reaction: string }[]>`
    with unflushed as materialized (select set_config('synchronous_commit', 'off', true)),
    locked as (
      select checkpoint.reaction, save.position, save.event_at
      from unnest(
        ${saves.map(({ reaction }) => reaction)}::text[], ${saves.map(({ position }) => String(position))}::bigint[],
        ${saves.map(({ eventAt }) => eventAt && asTimestamp(eventAt))}::timestamptz[], ${saves.map(({ epoch }) => String(epoch))}::bigint[]
      ) as save (reaction, position, event_at, epoch)
      join reactions.reaction_checkpoint as checkpoint on checkpoint.reaction = save.reaction and checkpoint.epoch = save.epoch
      order by checkpoint.reaction for update of checkpoint
    )
    update reactions.reaction_checkpoint as checkpoint
    set position = locked.position, event_at = coalesce(locked.event_at, checkpoint.event_at)
    from unflushed, locked where checkpoint.reaction = locked.reaction
    returning checkpoint.reaction`;
  const names = new Set(saved.map(({ reaction }) => reaction));
  return saves.map(({ reaction }) => names.has(reaction));
}

/** The stored state of a reaction: its checkpoint and its parked events. */
export class ReactionTable {
  constructor(
    private readonly sql: Sql,
    private readonly reaction: string,
    private readonly shared: Shared,
  ) {}

  /** Increments the epoch, which fences out the previous process. `begins` is used only for the first run ever. */
  async takeOver(begins: () => Promise<bigint>): Promise<TakenReaction> {
    const taken = await this.shared.nextEpoch();
    if (taken) return taken;
    await this.sql`
      insert into reactions.reaction_checkpoint (reaction, position, epoch)
      values (${this.reaction}, ${String(await begins())}, 0) on conflict do nothing`;
    return (await this.shared.nextEpoch())!;
  }

  /** Saves the checkpoint. @throws ReactionFencedOut */
  async save(progressed: Progressed, epoch: bigint): Promise<void> {
    if (!(await this.shared.save(progressed, epoch))) throw new ReactionFencedOut(this.reaction);
  }

  /** Parks an event until a retry is requested. @throws ReactionFencedOut */
  async park(event: StoredEvent, fault: unknown, epoch: bigint): Promise<void> {
    await this.insert(event, fault, epoch, this.sql`do update set error = excluded.error, retry = false`);
  }

  /** Parks an event that was not tried. An event that is already parked is not changed. @throws ReactionFencedOut */
  async hold(event: StoredEvent, reason: Error, epoch: bigint): Promise<void> {
    await this.insert(event, reason, epoch, this.sql`do update set reaction = excluded.reaction`);
  }

  async retryRequested(): Promise<readonly string[]> {
    const rows = await this.sql<{ stream: string }[]>`
      select distinct stream from reactions.parked where reaction = ${this.reaction} and retry order by stream limit 100`;
    return rows.map(({ stream }) => stream);
  }

  async firstParked(stream: string): Promise<ParkedEvent | undefined> {
    const [row] = await this.sql<{ revision: number; position: string }[]>`
      select revision, position::text from reactions.parked
      where reaction = ${this.reaction} and stream = ${stream} order by parked.position limit 1`;
    return row && { stream, revision: row.revision, position: BigInt(row.position) };
  }

  /** Keeps an event parked that failed again, with the later events of its stream. @throws ReactionFencedOut */
  async parkAgain(event: StoredEvent, fault: unknown, epoch: bigint): Promise<void> {
    await this.park(event, fault, epoch);
    await this.sql`update reactions.parked set retry = false where reaction = ${this.reaction} and stream = ${event.stream}`;
  }

  /** @throws ReactionFencedOut */
  async free(event: ParkedEvent, epoch: bigint): Promise<void> {
    const { count } = await this.sql`
      with tenure as (${this.tenure(epoch)})
      delete from reactions.parked where reaction = ${this.reaction} and position = ${String(event.position)}
        and exists (select from tenure)`;
    if (count !== 1) throw new ReactionFencedOut(this.reaction);
  }

  private async insert(event: StoredEvent, fault: unknown, epoch: bigint, onConflict: PendingQuery<Row[]>): Promise<void> {
    const { position, stream, revision, type } = event;
    const { count } = await this.sql`
      insert into reactions.parked (reaction, position, stream, revision, type, error)
      select ${this.reaction}, ${String(position)}::bigint, ${stream}, ${revision}::integer, ${type}, ${describeFault(fault)}
      from (${this.tenure(epoch)}) as tenure
      on conflict (reaction, position) ${onConflict}`;
    if (count !== 1) throw new ReactionFencedOut(this.reaction);
  }

  /** One row if no other process has taken the reaction over. None can until the statement has ended. */
  private tenure(epoch: bigint) {
    return this.sql`
      select 1 from reactions.reaction_checkpoint where reaction = ${this.reaction} and epoch = ${String(epoch)} for share`;
  }
}

/**
 * Requests a retry of a reaction's parked events from the process that runs it, and returns their number.
 * @throws if no reaction of this name has ever run
 */
export async function askToRetry(sql: Sql, reaction: string): Promise<number> {
  const rows = await sql<{ name: string }[]>`select reaction as name from reactions.reaction_checkpoint order by reaction`;
  const names = rows.map(({ name }) => name);
  if (!names.includes(reaction)) throw new Error(`There is no reaction ${reaction}; there are ${names.join(', ')}.`);
  return (await sql`update reactions.parked set retry = true where reaction = ${reaction}`).count;
}
