import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { causeOfTick, type Ticker } from '../../kernel/event-sourcing/ticker.js';
import { Ids } from '../../kernel/ids.js';
import { SealLog } from './log-seals.commands.js';

/** How long an event can stay without a seal. */
const EVERY_MS = 60_000;
/** A log that was written before there were seals is sealed in the course of several ticks. */
export const SEALS_PER_TICK_MAX = 20;

/** Seals the events that were appended since the last seal. Of several processes, one appends the seal. */
@Injectable()
export class SealEvents implements Ticker {
  readonly name = 'seal-events';
  readonly everyMs = EVERY_MS;

  constructor(
    private readonly commands: Commands,
    private readonly ids: Ids,
  ) {}

  async tick(): Promise<void> {
    const cause = causeOfTick(this, this.ids.next());
    for (let seals = 0; seals < SEALS_PER_TICK_MAX; seals++) if (!(await this.commands.execute(new SealLog(cause)))) return;
  }
}
