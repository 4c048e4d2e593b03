import { createParamDecorator, type ExecutionContext, Injectable, type PipeTransform } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Freshness } from '../kernel/event-sourcing/freshness.js';
import { answerPosition } from '../platform/http/positions.js';

/** Sends the position of a write, and waits until the caller's next read shows it in any process. */
export type Confirm = (position: bigint | undefined) => Promise<void>;

type Confirmed = Readonly<{ reply: FastifyReply; readModels: readonly string[] }>;

const ConfirmedReply = createParamDecorator((readModels: readonly string[], context: ExecutionContext): Confirmed => ({
  reply: context.switchToHttp().getResponse<FastifyReply>(),
  readModels,
}));

/** A pipe, because only a pipe of a parameter can be injected into. */
@Injectable()
class WaitsForReadModels implements PipeTransform<Confirmed, Confirm> {
  constructor(private readonly freshness: Freshness) {}

  transform({ reply, readModels }: Confirmed): Confirm {
    return async (position) => {
      answerPosition(reply, position);
      await this.freshness.reached(readModels, position);
    };
  }
}

/** The confirmation of a write that these read models show. */
export const Confirms = (...readModels: readonly string[]): ParameterDecorator => ConfirmedReply(readModels, WaitsForReadModels);
