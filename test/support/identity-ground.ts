import type { DynamicModule } from '@nestjs/common';
import { Clock } from '../../src/kernel/clock.js';
import { KeyValue } from '../../src/kernel/key-value.js';
import { Config } from '../../src/platform/config/config.js';
import { InProcessKeyValue } from '../../src/platform/messaging/key-value/in-process-key-value.js';
import { UserAccounts } from '../../src/resources/identity/user-accounts.port.js';
import { Commands } from '../../src/kernel/commands.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { Timing } from '../../src/kernel/timing.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { Sessions } from '../../src/resources/identity/sessions/sessions.port.js';
import { commandsOver } from './commands-over.js';
import { InMemoryEventStore } from './in-memory-event-store.js';
import { NoSessions } from './no-sessions.js';
import { ReadableAccounts } from './readable-accounts.js';

class IdentityGround {}

/** What the identity module needs of the platform: a configuration, and where requests are counted. */
export const identityGround = (config: Config, keyValue: KeyValue = new InProcessKeyValue()): DynamicModule => ({
  module: IdentityGround,
  global: true,
  providers: [
    { provide: Config, useValue: config },
    { provide: KeyValue, useValue: keyValue },
    { provide: Clock, useValue: { now: () => new Date() } satisfies Clock },
    { provide: UserAccounts, useClass: ReadableAccounts },
    { provide: Sessions, useClass: NoSessions },
    { provide: Timing, useValue: systemTiming },
    { provide: Streams, useValue: new Streams(new InMemoryEventStore(), systemTiming) },
    { provide: Commands, useValue: commandsOver() },
  ],
  exports: [Config, KeyValue, Clock, UserAccounts, Sessions, Timing, Streams, Commands],
});
