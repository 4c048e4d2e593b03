import { Injectable } from '@nestjs/common';
import { DeviceQueries } from '../../../../projections/devices/devices.queries.js';
import { Commands } from '../../../kernel/commands.js';
import { eachOf } from '../../../kernel/each-of.js';
import { causeOfTick, type Ticker } from '../../../kernel/event-sourcing/ticker.js';
import { Ids } from '../../../kernel/ids.js';
import { GiveUpInvocation } from './device-invocation.commands.js';

const EVERY_MS = 1_000;
const AT_ONCE_MAX = 100;

/** Ends the invocations whose deadline has passed and whose turn's process has ended. A turn that still waits does so itself. */
@Injectable()
export class EndInvocations implements Ticker {
  readonly name = 'end-invocations';
  readonly everyMs = EVERY_MS;

  constructor(
    private readonly devices: DeviceQueries,
    private readonly commands: Commands,
    private readonly ids: Ids,
  ) {}

  async tick(now: Date): Promise<void> {
    const overdue = await this.devices.overdue(now, AT_ONCE_MAX);
    await eachOf(overdue, (id) =>
      this.commands.execute(new GiveUpInvocation(id, 'deadline', causeOfTick(this, this.ids.next()))),
    );
  }
}
