import type { DynamicModule } from '@nestjs/common';
import { Clock } from '../../src/kernel/clock.js';
import { Signals } from '../../src/kernel/messaging/signals.js';
import { Timing } from '../../src/kernel/timing.js';
import { KeyValue } from '../../src/kernel/messaging/key-value.js';
import { Config } from '../../src/platform/config/config.js';
import { SseStreams } from '../../src/platform/http/sse.js';
import { InProcessSignals } from '../../src/platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { InProcessKeyValue } from '../../src/platform/messaging/key-value/in-process-key-value.js';
import { UserAccounts } from '../../src/resources/identity/accounts/user-accounts.port.js';
import { Commands } from '../../src/kernel/commands.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { Sessions } from '../../src/resources/identity/sessions/sessions.port.js';
import { commandsOver } from './commands-over.js';
import { InMemoryEventStore } from './in-memory-event-store.js';
import { NoSessions } from './no-sessions.js';
import { ReadableAccounts } from './readable-accounts.js';

class IdentityGround {}

/**
 * The platform services that the identity module needs: configuration, request counts, and the event streams that credentials
 * open.
 */
export const identityGround = (config: Config, keyValue: KeyValue = new InProcessKeyValue()): DynamicModule => ({
  module: IdentityGround,
  global: true,
  providers: [
    { provide: Config, useValue: config },
    { provide: KeyValue, useValue: keyValue },
    { provide: SseStreams, useValue: new SseStreams({ keepaliveMs: 60_000, stallMs: 60_000, bufferedBytesMax: 1_024 }) },
    { provide: Signals, useValue: new InProcessSignals() },
    { provide: Timing, useValue: systemTiming },
    { provide: Clock, useValue: { now: () => new Date() } satisfies Clock },
    { provide: UserAccounts, useClass: ReadableAccounts },
    { provide: Sessions, useClass: NoSessions },
    { provide: Streams, useValue: new Streams(new InMemoryEventStore(), systemTiming) },
    { provide: Commands, useValue: commandsOver() },
  ],
  exports: [Config, KeyValue, Clock, UserAccounts, SseStreams, Signals, Timing, Sessions, Streams, Commands],
});
