import { Injectable } from '@nestjs/common';
import { DeviceQueries, type OpenInvocation } from '../../../../projections/devices/devices.queries.js';
import { CLOCKS_APART_MS_MAX } from '../../../kernel/clocks-apart.js';
import { Commands } from '../../../kernel/commands.js';
import { eachOf } from '../../../kernel/each-of.js';
import { causeOfTick, type Ticker } from '../../../kernel/event-sourcing/ticker.js';
import { Ids } from '../../../kernel/ids.js';
import { Failures } from '../../../kernel/failures.js';
import { Sightings } from '../../../kernel/sightings.js';
import { Timing } from '../../../kernel/timing.js';
import { GiveUpInvocation } from './device-invocation.commands.js';

const EVERY_MS = 1_000;
/**
 * Maximum number of open invocations that this process watches, without those that it could not end. The others follow when
 * these are over.
 */
export const WATCHED_MAX = 1_000;

/**
 * Ends the invocations whose time is over and whose turn's process has ended. A turn that still waits does so itself, earlier,
 * because the time counts from when this process has seen the invocation. If processes end before that again and again, the
 * invocation ends when its deadline has passed by any clock.
 */
@Injectable()
export class EndInvocations implements Ticker {
  readonly name = 'end-invocations';
  readonly everyMs = EVERY_MS;
  private readonly open: Sightings;
  /** The invocations that could not be ended. */
  private readonly failures = new Failures();

  constructor(
    private readonly devices: DeviceQueries,
    private readonly commands: Commands,
    private readonly ids: Ids,
    timing: Timing,
  ) {
    this.open = new Sightings(timing);
  }

  async tick(now: Date): Promise<void> {
    const open = await this.devices.open(this.failures.pageFor(WATCHED_MAX));
    const ids = open.map(({ invocationId }) => invocationId);
    this.open.look(ids);
    this.failures.retain(ids);
    const isOver = ({ invocationId, deadline, allowedMs }: OpenInvocation) =>
      this.open.ageMs(invocationId) >= allowedMs || now.getTime() >= deadline.getTime() + CLOCKS_APART_MS_MAX;
    const giveUp = (id: string) =>
      this.commands.execute(new GiveUpInvocation(id, 'deadline', causeOfTick(this, this.ids.next())));
    const overdue = this.failures.next(open.filter(isOver), ({ invocationId }) => invocationId, WATCHED_MAX);
    await eachOf(overdue, ({ invocationId }) => this.failures.attempt(invocationId, () => giveUp(invocationId)));
  }
}
