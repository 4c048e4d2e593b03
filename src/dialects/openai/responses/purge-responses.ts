import { Injectable } from '@nestjs/common';
import { ExpiringQueries, type OldOutput } from '../../../../projections/expiring/expiring.queries.js';
import { Commands } from '../../../kernel/commands.js';
import { eachOf } from '../../../kernel/each-of.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import type { RetentionRule } from '../../../work/retention/retention-rule.port.js';
import { OpenAiOptions } from '../asking/openai-options.js';
import { ExpireResponse } from './response.commands.js';

/** Expires responses at the same age as the journals that they are read from. */
@Injectable()
export class PurgeResponses implements RetentionRule<OldOutput> {
  readonly name = 'responses';

  constructor(
    private readonly expiring: ExpiringQueries,
    private readonly commands: Commands,
    private readonly options: OpenAiOptions,
  ) {}

  due(now: Date, limit: number, after?: OldOutput): Promise<readonly OldOutput[]> {
    return this.expiring.responses(new Date(now.getTime() - 1000 * this.options.retentionSeconds), limit, after);
  }

  purge(due: readonly OldOutput[], cause: Cause): Promise<void> {
    return eachOf(due, ({ id }) => this.commands.execute(new ExpireResponse(id, cause)));
  }
}
