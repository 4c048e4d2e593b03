import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { cancel, monitor, pause, resume } from './monitor.decider.js';
import { type MonitorId, monitorStream } from './monitor.events.js';

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
export class SteerMonitorHandler implements ICommandHandler<SteerMonitor> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ monitorId, ownerId, steering, cause }: SteerMonitor): Promise<bigint | undefined> {
    const decision = DECISIONS[steering](ownerId, this.clock.now());
    return (await this.streams.transact(monitorStream(monitorId), monitor, decision, cause)).position;
  }
}
