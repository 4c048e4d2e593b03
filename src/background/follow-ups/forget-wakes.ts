import { type OldWakesOfConversation, type WakeQueries } from '../../../projections/wakes/wakes.queries.js';
import type { Clock } from '../../kernel/clock.js';
import type { Commands } from '../../kernel/commands.js';
import { eachOf } from '../../kernel/each-of.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { RetentionRule } from '../../work/retention/retention-rule.port.js';
import { ExpireWakes } from './expired-wakes.commands.js';

/** What had conversations go on by themselves: what a conversation made of it stays there. */
export class ForgetWakes implements RetentionRule<OldWakesOfConversation> {
  readonly name = 'wakes';

  constructor(
    private readonly wakes: WakeQueries,
    private readonly commands: Commands,
    private readonly clock: Clock,
    private readonly retentionMs: number,
  ) {}

  due(now: Date, limit: number, after?: OldWakesOfConversation): Promise<readonly OldWakesOfConversation[]> {
    return this.wakes.settledBefore(this.keptSince(now), limit, after);
  }

  forget(due: readonly OldWakesOfConversation[], cause: Cause): Promise<void> {
    const keptSince = this.keptSince(this.clock.now());
    return eachOf(due, ({ id }) => this.commands.execute(new ExpireWakes(id, keptSince, cause)));
  }

  private keptSince(now: Date): Date {
    return new Date(now.getTime() - this.retentionMs);
  }
}
