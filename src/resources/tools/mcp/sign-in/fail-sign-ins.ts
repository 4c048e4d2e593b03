import type { ExpiringQueries, OldOutput } from '../../../../../projections/expiring/expiring.queries.js';
import type { Clock } from '../../../../kernel/clock.js';
import type { Commands } from '../../../../kernel/commands.js';
import { eachOf } from '../../../../kernel/each-of.js';
import type { Cause } from '../../../../kernel/event-sourcing/events.js';
import type { RetentionRule } from '../../../../work/retention/retention-rule.port.js';
import { FailOverdueSignIn } from './oauth.commands.js';

/** The time after its expiry in which a process that used the state in time may still finish a sign-in. */
export const SIGN_IN_GRACE_MS = 10 * 60_000;

/** Fails sign-ins whose user did not return or that a crash left open. */
export class FailSignIns implements RetentionRule<OldOutput> {
  readonly name = 'sign-ins at tool servers';

  constructor(
    private readonly expiring: ExpiringQueries,
    private readonly commands: Commands,
    private readonly clock: Clock,
  ) {}

  due(now: Date, limit: number, after?: OldOutput): Promise<readonly OldOutput[]> {
    return this.expiring.signIns(graceBefore(now), limit, after);
  }

  purge(due: readonly OldOutput[], cause: Cause): Promise<void> {
    const by = graceBefore(this.clock.now());
    return eachOf(due, ({ id }) => this.commands.execute(new FailOverdueSignIn(id, by, cause)));
  }
}

const graceBefore = (now: Date): Date => new Date(now.getTime() - SIGN_IN_GRACE_MS);
