import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { ReadModels } from '../../projections/read-models.js';
import { Blobs } from '../kernel/blobs.js';
import { Clock } from '../kernel/clock.js';
import { EventStore } from '../kernel/event-sourcing/event-store.js';
import { Fingerprints } from '../kernel/event-sourcing/fingerprints.js';
import { IdempotencyKeys } from '../kernel/event-sourcing/idempotency.js';
import { Ids } from '../kernel/ids.js';
import { KeyValue } from '../kernel/messaging/key-value.js';
import { LastWrites } from '../kernel/event-sourcing/last-writes.js';
import { Signals } from '../kernel/messaging/signals.js';
import { Progress } from '../platform/projections/progress.js';
import { RememberedQueries } from '../platform/projections/remembered-queries.js';
import { Streams } from '../kernel/event-sourcing/streams.js';
import { Timing } from '../kernel/timing.js';
import { WorkQueue } from '../kernel/messaging/work-queue.js';
import { CredentialUses } from '../platform/credentials/credential-uses.port.js';
import { CredentialVault } from '../platform/credentials/credential-vault.port.js';
import { Seals } from '../platform/credentials/seals.port.js';
import { OutgoingHttp } from '../platform/outgoing/outgoing-http.port.js';
import { Config } from '../platform/config/config.js';
import { Sessions } from '../resources/identity/sessions/sessions.port.js';
import { UserAccounts } from '../resources/identity/accounts/user-accounts.port.js';
import type { Platform } from './platform.js';
import { systemIds } from '../platform/system-ids.js';
import { systemClock } from '../platform/system-clock.js';
import { systemTiming } from '../platform/system-timing.js';
import { Commands } from '../kernel/commands.js';
import { NestCommands } from '../platform/commands/nest-commands.js';

/** The injection token of the whole platform. */
export const PLATFORM = Symbol('Platform');

/** The injection token of the process log. */
export const LOG = Symbol('Log');

/** Provides the adapters of an open platform under the ports of the features. The code that opened the platform closes it. */
@Global()
@Module({})
export class PlatformModule {
  static over(platform: Platform, log: Logger): DynamicModule {
    const streams = new Streams(platform.store, systemTiming, platform.config.eventStorePatienceMs);
    const { progress } = platform;
    const queries = new RememberedQueries(progress, systemTiming);
    const fingerprints = new Fingerprints(platform.config.encryptionSecretKey);
    const values = [
      { provide: PLATFORM, useValue: platform },
      { provide: LOG, useValue: log },
      { provide: Config, useValue: platform.config },
      { provide: EventStore, useValue: platform.store },
      { provide: Streams, useValue: streams },
      { provide: Fingerprints, useValue: fingerprints },
      { provide: IdempotencyKeys, useValue: new IdempotencyKeys(streams, systemClock, fingerprints) },
      { provide: LastWrites, useValue: new LastWrites() },
      { provide: Signals, useValue: platform.signals },
      { provide: KeyValue, useValue: platform.keyValue },
      { provide: WorkQueue, useValue: platform.queue },
      { provide: Blobs, useValue: platform.blobs },
      { provide: CredentialVault, useValue: platform.credentials },
      { provide: CredentialUses, useValue: platform.credentialUses },
      { provide: Seals, useValue: platform.seals },
      { provide: UserAccounts, useValue: platform.accounts },
      { provide: Sessions, useValue: platform.sessions },
      { provide: OutgoingHttp, useValue: platform.outgoing },
      { provide: Progress, useValue: progress },
      { provide: ReadModels, useValue: new ReadModels(platform.sql, (...asked) => queries.answer(...asked)) },
      { provide: Clock, useValue: systemClock },
      { provide: Timing, useValue: systemTiming },
      { provide: Ids, useValue: systemIds },
    ];
    return {
      module: PlatformModule,
      providers: [...values, { provide: Commands, useClass: NestCommands }],
      exports: [...values, Commands],
    };
  }
}
