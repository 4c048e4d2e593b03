import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
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

/** Delays a request until the read models have reached the requested position. */
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
