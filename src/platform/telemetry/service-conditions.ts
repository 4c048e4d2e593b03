import type { Sql } from 'postgres';
import { filterOf, type Projection } from '../../../projections/projection.js';
import {
  type ConditionReport,
  Conditions,
  degraded,
  type DependencyCondition,
  type FollowerCondition,
  type ReadinessCheck,
} from '../../kernel/conditions.js';
import {
  type EventStore,
  LOG_DIFFERS,
  LOG_ENDS_EARLIER,
  LOG_START,
  type LogFilter,
} from '../../kernel/event-sourcing/event-store.js';
import { describeFault } from '../supervision/described-fault.js';
import type { FollowerStatus } from '../supervision/follower-status.js';
import { reactionStatuses } from '../reactions/reaction-statuses.js';
import { type ProjectionStatus, projectionStatuses } from '../projections/projection-statuses.js';
import { Backlog } from './backlog.js';
import { HiddenAddresses } from './hidden-addresses.js';
import { impairmentsIn, readinessOf } from './impairments.js';

/** A dependency that does not answer within this time counts as unavailable. */
const ANSWER_MS_MAX = 2_000;

/** How long a report is reused, because several probes and scrapers may request it. */
const FRESH_MS = 500;

type Failures = Readonly<{ failureOf(name: string): string | undefined }>;

export type ConditionSources = Readonly<{
  sql: Sql;
  store: EventStore;
  /** Checks by dependency name. A check throws if the dependency is unavailable. */
  checks: Readonly<Record<string, () => Promise<void>>>;
  projections: readonly Projection[];
  /** The projector and reactions of this process, if it runs them. They know the reasons of failures. */
  projector?: Failures;
  reactions?: Failures & Readonly<{ filterOf(name: string): LogFilter | undefined }>;
  /** The failures of projections in other processes, by projection name. */
  faults?: () => Promise<ReadonlyMap<string, string>>;
  readinessChecks?: readonly ReadinessCheck[];
  /** The hosts of the dependencies, which no reason names. */
  hosts?: readonly string[];
}>;

/**
 * The conditions of this process's dependencies, and of the followers as the database has them. Lag does not make a process
 * unready: that would take all processes out of service together. A process is unready if a read model cannot be used: its rows
 * are of another version or of a longer log, or it failed before its first checkpoint.
 */
export class ServiceConditions extends Conditions {
  private latest: { at: number; report: Promise<ConditionReport> } | undefined;

  private readonly hidden: HiddenAddresses;
  private readonly backlogs: Readonly<{ projections: Backlog; reactions: Backlog }>;

  constructor(private readonly sources: ConditionSources) {
    super();
    const { store, projections, reactions } = sources;
    const filters = new Map(projections.map((projection) => [projection.name, filterOf(projection)]));
    this.backlogs = {
      projections: new Backlog(store, (name) => filters.get(name)),
      reactions: new Backlog(store, (name) => reactions?.filterOf(name)),
    };
    this.hidden = new HiddenAddresses(sources.hosts);
  }

  report(): Promise<ConditionReport> {
    const now = performance.now();
    if (!this.latest || now - this.latest.at > FRESH_MS) this.latest = { at: now, report: this.measure() };
    return this.latest.report;
  }

  private async measure(): Promise<ConditionReport> {
    const [found, followers, snapshotSeconds, others] = await Promise.all([
      this.dependencies(),
      this.followers(),
      outcomeOf(() => this.snapshotSeconds()),
      Promise.all((this.sources.readinessChecks ?? []).map(outcomeOf)),
    ]);
    const { unwritten } = followers;
    const [dependencies, projections, reactions] = [
      this.withoutAddresses(found),
      this.withoutAddresses(followers.projections),
      this.withoutAddresses(followers.reactions),
    ];
    const impairments = [
      ...impairmentsIn(dependencies, projections, reactions),
      ...(unwritten.length > 0 ? [degraded(`No projector is alive that writes ${unwritten.join(', ')}.`)] : []),
      ...others.filter((each) => each !== undefined),
    ];
    return { ...readinessOf(impairments), dependencies, projections, reactions, snapshotSeconds: snapshotSeconds ?? null };
  }

  private withoutAddresses<T extends { readonly error?: string }>(
    conditions: Readonly<Record<string, T>>,
  ): Readonly<Record<string, T>> {
    return Object.fromEntries(
      Object.entries(conditions).map(([name, condition]) => [
        name,
        condition.error === undefined ? condition : { ...condition, error: this.hidden.in(condition.error) },
      ]),
    );
  }

  private async dependencies(): Promise<ConditionReport['dependencies']> {
    const checks = Object.entries(this.sources.checks);
    return Object.fromEntries(await Promise.all(checks.map(async ([name, check]) => [name, await probe(check)] as const)));
  }

  /** The age of the oldest snapshot of any program in this database. */
  private async snapshotSeconds(): Promise<number> {
    const [row] = await this.sources.sql<{ seconds: number }[]>`
      select coalesce(extract(epoch from clock_timestamp() - min(xact_start)), 0)::float8 as seconds from pg_stat_activity
      where datname = current_database() and backend_xmin is not null and backend_type = 'client backend'`;
    return row!.seconds;
  }

  private async followers() {
    const { sql, store, projections, projector, reactions, faults } = this.sources;
    const [head, elsewhere, [projected, reacted]] = await Promise.all([
      outcomeOf(() => store.head()),
      outcomeOf(async () => faults?.()),
      within(ANSWER_MS_MAX, Promise.all([projectionStatuses(sql, projections), reactionStatuses(sql)])).catch(
        (error: unknown) => [unknownStatuses(projections, error), []] as const,
      ),
    ]);
    const failureOf = ({ name, position, hasWriter }: ProjectionStatus) =>
      projector?.failureOf(name) ?? elsewhere?.get(name) ?? (hasWriter || !isAtStart(position, head) ? undefined : UNWRITTEN);
    const [projectionLags, reactionLags] = await Promise.all([
      lagsOf(projected, head, this.backlogs.projections),
      lagsOf(reacted, head, this.backlogs.reactions),
    ]);
    return {
      projections: Object.fromEntries(
        projected.map((each) => [each.name, conditionOf(each, head, projectionLags.get(each.name), failureOf(each))]),
      ),
      reactions: Object.fromEntries(
        reacted.map((each) => [each.name, conditionOf(each, head, reactionLags.get(each.name), reactions?.failureOf(each.name))]),
      ),
      unwritten: projected.filter(({ hasWriter }) => !hasWriter).map(({ name }) => name),
    };
  }
}

const UNWRITTEN = 'No projector has begun to write it.';

/** Whether a follower is still at the start of a log that has events. */
const isAtStart = (position: bigint | undefined, head = LOG_START): boolean =>
  (position ?? LOG_START) <= LOG_START && head > LOG_START;

/** The failures of a follower whose log was replaced by another one. */
const REPLACED: ReadonlySet<string | undefined> = new Set([LOG_ENDS_EARLIER, LOG_DIFFERS]);

/** For how many seconds the oldest event that each follower has not handled has been in the log. */
async function lagsOf(
  followers: readonly FollowerStatus[],
  head: bigint | undefined,
  backlog: Backlog,
): Promise<ReadonlyMap<string, number>> {
  const lags = new Map<string, number>();
  if (head === undefined) return lags;
  const report = (name: string, oldest: Date | null) =>
    lags.set(name, oldest ? Math.max(0, Math.round((Date.now() - oldest.getTime()) / 1000)) : 0);
  await outcomeOf(() => backlog.find(followers, head, report));
  return lags;
}

function conditionOf(
  status: FollowerStatus,
  head: bigint | undefined,
  secondsBehind: number | undefined,
  failure: string | undefined,
): FollowerCondition {
  const { position, parked, held, problem } = status;
  const isBehind = head !== undefined && position !== undefined && position < head;
  const error = problem ?? failure;
  const hasGotAnywhere = position !== undefined && position > LOG_START;
  return {
    ok: problem === undefined && !REPLACED.has(failure) && (failure === undefined || hasGotAnywhere),
    position: position === undefined ? null : String(position),
    behind: head === undefined || position === undefined ? null : String(isBehind ? head - position : 0n),
    secondsBehind: secondsBehind ?? null,
    parked,
    held,
    ...(error !== undefined && { error }),
  };
}

const unknownStatuses = (projections: readonly Projection[], error: unknown): readonly ProjectionStatus[] =>
  projections.map(({ name }) => ({
    name,
    position: undefined,
    parked: 0,
    held: 0,
    hasWriter: true,
    problem: describeFault(error),
  }));

/** Undefined on a timeout or error. The dependency that caused it is reported by its own check. */
const outcomeOf = <T>(check: () => Promise<T>): Promise<T | undefined> => within(ANSWER_MS_MAX, check()).catch(() => undefined);

async function probe(check: () => Promise<void>): Promise<DependencyCondition> {
  const startedAt = performance.now();
  const ms = () => Math.round(performance.now() - startedAt);
  try {
    await within(ANSWER_MS_MAX, check());
    return { ok: true, ms: ms() };
  } catch (error) {
    return { ok: false, ms: ms(), error: describeFault(error) };
  }
}

function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer within ${ms} ms.`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
