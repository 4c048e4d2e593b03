import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { nextCheckAt } from './check-times.policy.js';
import { cancel, cancelWithConversation, create, monitor, pause, resume } from './monitor.decider.js';
import { type MonitorCreated, type MonitorId, monitorStream } from './monitor.events.js';

/** Somebody wants to be told. Whether there is a place for it was asked before. */
export class CreateMonitor extends Command<bigint | undefined> {
  constructor(
    readonly monitor: Omit<MonitorCreated['data'], 'createdAt' | 'nextCheckAt'>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(CreateMonitor)
export class CreateMonitorHandler implements Handler<CreateMonitor> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ monitor: { monitorId, ...more }, cause }: CreateMonitor): Promise<bigint | undefined> {
    const now = this.clock.now();
    const times = {
      createdAt: now.toISOString(),
      nextCheckAt: nextCheckAt({ monitorId, checkNumber: 1, ...more.terms }, now),
    };
    const decision = create({ monitorId, ...more, ...times });
    return (await this.streams.transact(monitorStream(monitorId), monitor, decision, cause)).position;
  }
}

const DECISIONS = { pause, resume, cancel } as const;

export type Steering = keyof typeof DECISIONS;

export const isSteering = (text: string): text is Steering => Object.hasOwn(DECISIONS, text);

/** A monitor's owner wants it to stop for a while, to go on, or to end. */
export class SteerMonitor extends Command<bigint | undefined> {
  constructor(
    readonly monitorId: MonitorId,
    readonly ownerId: string,
    readonly steering: Steering,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(SteerMonitor)
export class SteerMonitorHandler implements Handler<SteerMonitor> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ monitorId, ownerId, steering, cause }: SteerMonitor): Promise<bigint | undefined> {
    const decision = DECISIONS[steering](ownerId, this.clock.now());
    return (await this.streams.transact(monitorStream(monitorId), monitor, decision, cause)).position;
  }
}

/** The conversation that a monitor was to wake is gone. */
export class CancelMonitorWithConversation extends Command<void> {
  constructor(
    readonly monitorId: MonitorId,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(CancelMonitorWithConversation)
export class CancelMonitorWithConversationHandler implements Handler<CancelMonitorWithConversation> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ monitorId, cause }: CancelMonitorWithConversation): Promise<void> {
    const decision = cancelWithConversation(this.clock.now());
    await this.streams.transact(monitorStream(monitorId), monitor, decision, cause);
  }
}
