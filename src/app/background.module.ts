import {
  type BeforeApplicationShutdown,
  Global,
  Inject,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { Logger } from 'pino';
import { projections } from '../../projections/catalogue.js';
import { schemaOf } from '../../projections/projection.js';
import { DemoSeeding } from '../views/demo/demo-seeding.js';
import { Clock } from '../kernel/clock.js';
import { Conditions, Measurements } from '../kernel/conditions.js';
import { Freshness } from '../kernel/event-sourcing/freshness.js';
import type { Reaction } from '../kernel/event-sourcing/reaction.js';
import type { Ticker } from '../kernel/event-sourcing/ticker.js';
import { Timing } from '../kernel/timing.js';
import { requireSpaceLeft, spaceImpairment } from '../platform/free-space.js';
import { Semaphore } from '../platform/supervision/semaphore.js';
import type { Platform } from './platform.js';
import { LOG, PLATFORM } from './platform.module.js';
import { PostgresFreshness } from '../platform/projections/postgres-freshness.js';
import { Progress } from '../platform/projections/progress.js';
import { ProjectionFaults } from '../platform/projections/projection-faults.js';
import { Projector } from '../platform/projections/projector.js';
import { untilTablesAreThere } from '../platform/projections/schema.js';
import { Reactions } from '../platform/reactions/reactions.js';
import { PrometheusMeasurements } from '../platform/telemetry/prometheus-measurements.js';
import { ServiceConditions } from '../platform/telemetry/service-conditions.js';
import { Tickers } from '../platform/tickers/tickers.js';
import { workerCheck } from '../work/tasks/worker-presence.js';
import { dependencyHosts } from './dependency-hosts.js';
import { ROOMS } from './rooms.js';
import { Purges } from '../work/retention/purges.js';
import { type RetentionRule, RetentionRules } from '../work/retention/retention-rule.port.js';
import { NotificationRules } from '../views/notifications/notification-rules.js';

const REACTIONS = ROOMS.flatMap(({ reactions }) => reactions ?? []);
const TICKERS = ROOMS.flatMap(({ tickers }) => tickers ?? []);
const RETENTION = ROOMS.flatMap(({ retention }) => retention ?? []);

type ProjectorParts = [Platform, Progress, Timing, Logger, ProjectionFaults];

/** Runs the work without requests: projections, reactions and tickers. */
@Global()
@Module({
  imports: [...ROOMS],
  providers: [
    {
      provide: Freshness,
      inject: [PLATFORM, Progress, Timing],
      useFactory: ({ sql, store, config }: Platform, progress: Progress, timing: Timing) =>
        new PostgresFreshness(sql, projections, progress, store, timing, config.freshnessWaitMs),
    },
    {
      provide: ProjectionFaults,
      inject: [PLATFORM],
      useFactory: ({ keyValue }: Platform) => new ProjectionFaults(keyValue),
    },
    {
      provide: Projector,
      inject: [PLATFORM, Progress, Timing, LOG, ProjectionFaults],
      useFactory: (...[{ config, sql, store }, progress, timing, log, faults]: ProjectorParts) => {
        const { natsUrl, databaseUrl, dataDir } = config;
        const requireSpace = () => (databaseUrl ? undefined : requireSpaceLeft(dataDir));
        const alone = natsUrl ? {} : { ownRebuilds: { limit: new Semaphore(1), requireSpace } };
        return new Projector({ sql, store, progress, timing, log, faults, ...alone }, projections);
      },
    },
    {
      provide: Reactions,
      inject: [PLATFORM, Timing, LOG, ...REACTIONS],
      useFactory: ({ sql, store }: Platform, timing: Timing, log: Logger, ...reactions: Reaction[]) =>
        new Reactions({ sql, store, timing, log }, reactions),
    },
    {
      provide: Tickers,
      inject: [PLATFORM, Clock, Timing, LOG, ...TICKERS],
      useFactory: ({ config }: Platform, clock: Clock, timing: Timing, log: Logger, ...tickers: Ticker[]) => {
        const own = tickers.filter(({ role = 'worker' }) => config.roles.includes(role));
        return new Tickers(own, clock, timing, log);
      },
    },
    {
      provide: Conditions,
      inject: [PLATFORM, Projector, Reactions, ProjectionFaults, DemoSeeding],
      useFactory: (
        { config, sql, store, keyValue, checks }: Platform,
        projector: Projector,
        reactions: Reactions,
        faults: ProjectionFaults,
        demo: DemoSeeding,
      ) => {
        const readinessChecks = [
          workerCheck(keyValue),
          async () => demo.impairment(),
          async () => spaceImpairment(config.dataDir),
        ];
        const followers = { projections, projector, reactions, faults: () => faults.all() };
        return new ServiceConditions({ sql, store, checks, ...followers, readinessChecks, hosts: dependencyHosts(config) });
      },
    },
    {
      provide: PrometheusMeasurements,
      inject: [Conditions],
      useFactory: (conditions: Conditions) => new PrometheusMeasurements(conditions),
    },
    { provide: Measurements, useExisting: PrometheusMeasurements },
    {
      provide: RetentionRules,
      inject: RETENTION,
      useFactory: (...rules: RetentionRule[]) => new RetentionRules(rules),
    },
    { provide: Purges, useValue: new Purges(ROOMS.flatMap(({ purges }) => purges ?? [])) },
    {
      provide: NotificationRules,
      useValue: new NotificationRules(ROOMS.flatMap(({ notifications }) => notifications ?? [])),
    },
  ],
  exports: [Freshness, Conditions, Measurements, PrometheusMeasurements, NotificationRules, Purges, RetentionRules],
})
export class BackgroundModule implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown {
  constructor(
    @Inject(PLATFORM) private readonly platform: Platform,
    @Inject(LOG) private readonly log: Logger,
    private readonly projector: Projector,
    private readonly reactions: Reactions,
    private readonly tickers: Tickers,
    private readonly timing: Timing,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { roles } = this.platform.config;
    if (roles.includes('projector')) await this.projector.start();
    // Requests and tickers wait until the read models have their tables.
    const onMissing = (schema: string) => this.log.warn(`Waiting for a projector to create the tables of ${schema}`);
    await untilTablesAreThere(this.platform.sql, projections.map(schemaOf), onMissing, this.timing);
    if (roles.includes('worker')) this.reactions.start();
    this.tickers.start();
  }

  /** Stops new background work while requests finish. The projector continues, so that requests can read their own writes. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.tickers.stop(), this.reactions.stop()]);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.projector.stop();
  }
}
