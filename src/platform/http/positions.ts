import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { Rejection } from '../../kernel/rejection.js';

/** The response header with the log position of a write. */
export const POSITION_HEADER = 'X-Position';
/** The request header with the position that read models must reach before the response, within a bounded time. */
export const AFTER_POSITION_HEADER = 'X-After-Position';

const DIGITS_MAX = 20;

/** Sends the position of a write. A write that changed nothing has none. */
export function answerPosition(reply: FastifyReply, position: bigint | undefined): void {
  if (position !== undefined) void reply.header(POSITION_HEADER, String(position));
}

/**
 * Delays a request until the read models have reached the requested position. It is a guard, because a global interceptor would
 * wrap every response in observables.
 */
export class AfterPosition implements CanActivate {
  constructor(
    private readonly freshness: () => Freshness,
    private readonly readModels: readonly string[],
  ) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    const asked = context.switchToHttp().getRequest<FastifyRequest>().headers[AFTER_POSITION_HEADER.toLowerCase()];
    if (asked === undefined) return true;
    return this.freshness()
      .reached(this.readModels, positionIn(asked))
      .then(() => true);
  }
}

function positionIn(header: string | readonly string[]): bigint {
  if (typeof header === 'string' && header.length <= DIGITS_MAX && /^\d+$/.test(header)) return BigInt(header);
  throw new Rejection('invalid-request', `${AFTER_POSITION_HEADER} must be a position: a whole number.`);
}
