import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type ConditionReport, type Conditions, type FollowerCondition, Measurements } from '../../kernel/conditions.js';

/** How often the delay of the event loop is sampled. Every sample wakes the process. */
export const EVENT_LOOP_SAMPLED_EVERY_MS = 20;
const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** The metrics of this process. Each scrape adds the conditions of dependencies and followers. */
export class PrometheusMeasurements extends Measurements {
  readonly registry = new Registry();

  readonly requestSeconds = new Histogram({
    name: 'verbatim_http_request_seconds',
    help: 'Time from a request to the end of its answer, streams included.',
    labelNames: ['method', 'route', 'status'],
    buckets: SECONDS_BUCKETS,
    registers: [this.registry],
  });

  readonly openRequests = new Gauge({
    name: 'verbatim_http_open_requests',
    help: 'Requests whose answer has not ended, streams included.',
    registers: [this.registry],
  });

  private readonly scrapeFailures = new Counter({
    name: 'verbatim_condition_report_failures_total',
    help: 'Scrapes without a report of the conditions.',
    registers: [this.registry],
  });

  private readonly dependencyUp = this.gauge('verbatim_dependency_up', 'Whether a dependency answers.', ['dependency']);
  private readonly behind = this.gauge('verbatim_follower_behind', 'How far behind the end of the log, in positions.');
  private readonly secondsBehind = this.gauge(
    'verbatim_follower_seconds_behind',
    'Age of the oldest event that it has not handled, 0 if there is none.',
  );
  private readonly parked = this.gauge('verbatim_follower_parked', 'Parked entities or events.');
  private readonly held = this.gauge('verbatim_follower_held_events', 'Events that are held behind parked ones.');
  private readonly usable = this.gauge('verbatim_follower_usable', 'Whether its results can be used.');

  private readonly snapshotSeconds = this.gauge(
    'verbatim_oldest_snapshot_seconds',
    'Age of the oldest snapshot in the database, 0 if there is none.',
    [],
  );

  constructor(private readonly conditions: Conditions) {
    super();
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLED_EVERY_MS });
  }

  async text() {
    try {
      this.record(await this.conditions.report());
    } catch {
      this.scrapeFailures.inc();
    }
    return { contentType: this.registry.contentType, body: await this.registry.metrics() };
  }

  private record({ dependencies, projections, reactions, snapshotSeconds }: ConditionReport): void {
    for (const gauge of [this.dependencyUp, this.behind, this.secondsBehind, this.parked, this.held, this.usable]) gauge.reset();
    this.snapshotSeconds.set(snapshotSeconds ?? NaN);
    for (const [dependency, { ok }] of Object.entries(dependencies)) this.dependencyUp.set({ dependency }, ok ? 1 : 0);
    for (const [name, condition] of Object.entries(projections)) this.recordFollower('projection', name, condition);
    for (const [name, condition] of Object.entries(reactions)) this.recordFollower('reaction', name, condition);
  }

  private recordFollower(kind: string, name: string, condition: FollowerCondition): void {
    const { ok, behind, secondsBehind, parked, held } = condition;
    const labels = { kind, name };
    if (behind !== null) this.behind.set(labels, Number(behind));
    if (secondsBehind !== null) this.secondsBehind.set(labels, secondsBehind);
    this.parked.set(labels, parked);
    this.held.set(labels, held);
    this.usable.set(labels, ok ? 1 : 0);
  }

  private gauge(name: string, help: string, labelNames: readonly string[] = ['kind', 'name']): Gauge {
    return new Gauge({ name, help, labelNames: [...labelNames], registers: [this.registry] });
  }
}
