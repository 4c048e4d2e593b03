import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import type { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { Rejection } from '../../kernel/rejection.js';

/** How far a write reached in the log. */
export const POSITION_HEADER = 'X-Position';
/** How far the read models must have come before a request is answered, within a bound. */
export const AFTER_POSITION_HEADER = 'X-After-Position';

const DIGITS_MAX = 20;

/** Tells the client how far its write reached; a write that changed nothing reached nowhere new. */
export function answerPosition(reply: FastifyReply, position: bigint | undefined): void {
  if (position !== undefined) void reply.header(POSITION_HEADER, String(position));
}

/** Holds a request back until the read models have passed the position its client asks for. */
export class AfterPosition implements NestInterceptor {
  constructor(
    private readonly freshness: () => Freshness,
    private readonly readModels: readonly string[],
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const asked = context.switchToHttp().getRequest<FastifyRequest>().headers[AFTER_POSITION_HEADER.toLowerCase()];
    if (asked !== undefined) await this.freshness().reached(this.readModels, positionIn(asked));
    return next.handle();
  }
}

function positionIn(header: string | readonly string[]): bigint {
  if (typeof header === 'string' && header.length <= DIGITS_MAX && /^\d+$/.test(header)) return BigInt(header);
  throw new Rejection('invalid-request', `${AFTER_POSITION_HEADER} must be a position: a whole number.`);
}
