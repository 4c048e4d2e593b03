import type { Sql } from 'postgres';
import type { Projection } from '../../../projections/projection.js';
import { type ConditionReport, Conditions, type DependencyCondition, type FollowerCondition } from '../../kernel/conditions.js';
import type { EventStore } from '../../kernel/event-store.js';
import { describeFault } from '../supervision/kept-event.js';
import type { FollowerStanding } from '../supervision/follower-standing.js';
import { reactionStandings } from '../reactions/reaction-standings.js';
import { projectionStandings } from '../projections/projection-standings.js';

/** A dependency that has not answered after this long counts as away. */
const ANSWER_MS_MAX = 2_000;

/** Several probes and scrapers may ask at once; each answer serves those who ask within this time. */
const FRESH_MS = 500;

type Failures = Readonly<{ failureOf(name: string): string | undefined }>;

export type ConditionSources = Readonly<{
  sql: Sql;
  store: EventStore;
  /** Throws when the dependency of that name is away. */
  checks: Readonly<Record<string, () => Promise<void>>>;
  projections: readonly Projection[];
  /** Those that follow the log in this process, if it does: they know why they do not get on. */
  projector?: Failures;
  reactions?: Failures;
}>;

/**
 * The process's own view of what it rests on, and the database's view of who keeps up. Being behind does not make it
 * unready: that would take every process of the service away at once. Rows of another version do, for they cannot be read.
 */
export class ServiceConditions extends Conditions {
  private latest: { at: number; report: Promise<ConditionReport> } | undefined;

  constructor(private readonly sources: ConditionSources) {
    super();
  }

  report(): Promise<ConditionReport> {
    const now = performance.now();
    if (!this.latest || now - this.latest.at > FRESH_MS) this.latest = { at: now, report: this.look() };
    return this.latest.report;
  }

  private async look(): Promise<ConditionReport> {
    const { checks, sql, store, projections, projector, reactions } = this.sources;
    const dependencies = Object.fromEntries(
      await Promise.all(Object.entries(checks).map(async ([name, check]) => [name, await probe(check)] as const)),
    );
    const head = await within(ANSWER_MS_MAX, store.head()).catch(() => undefined);
    const follower = (failures: Failures | undefined) => (standing: FollowerStanding) =>
      [standing.name, conditionOf(standing, head, failures?.failureOf(standing.name))] as const;
    const [projected, reacted] = await within(
      ANSWER_MS_MAX,
      Promise.all([projectionStandings(sql, projections), reactionStandings(sql)]),
    ).catch((error: unknown) => [unknownStandings(projections, error), []] as const);
    const followers = {
      projections: Object.fromEntries(projected.map(follower(projector))),
      reactions: Object.fromEntries(reacted.map(follower(reactions))),
    };
    const isUp = [...Object.values(dependencies), ...Object.values(followers.projections)].every(({ ok }) => ok);
    return { ok: isUp, dependencies, ...followers };
  }
}

function conditionOf(standing: FollowerStanding, head: bigint | undefined, failure: string | undefined): FollowerCondition {
  const { position, eventAt, parked, held, problem } = standing;
  const isBehind = head !== undefined && position !== undefined && position < head;
  const error = problem ?? failure;
  return {
    ok: problem === undefined,
    position: position === undefined ? null : String(position),
    behind: head === undefined || position === undefined ? null : String(isBehind ? head - position : 0n),
    secondsBehind: isBehind ? (eventAt ? Math.max(0, Math.round((Date.now() - eventAt.getTime()) / 1000)) : null) : 0,
    parked,
    held,
    ...(error !== undefined && { error }),
  };
}

const unknownStandings = (projections: readonly Projection[], error: unknown): readonly FollowerStanding[] =>
  projections.map(({ name }) => ({
    name,
    position: undefined,
    eventAt: null,
    parked: 0,
    held: 0,
    problem: describeFault(error),
  }));

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
