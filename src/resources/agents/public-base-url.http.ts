import { createParamDecorator, type ExecutionContext, Injectable, type PipeTransform } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { withoutTrailing } from '../../kernel/trailing.js';

const TheRequest = createParamDecorator((_: undefined, context: ExecutionContext) =>
  context.switchToHttp().getRequest<FastifyRequest>(),
);

/** The base URL of the service for clients, if it is configured. */
export class PublicBaseUrl {
  constructor(readonly configured: string | undefined) {}
}

/** A pipe, because only a pipe of a parameter can be injected into. */
@Injectable()
class BaseUrlOf implements PipeTransform<FastifyRequest, string> {
  constructor(private readonly url: PublicBaseUrl) {}

  transform({ protocol, host }: FastifyRequest): string {
    return withoutTrailing(this.url.configured ?? `${protocol}://${host}`, '/');
  }
}

/** The base URL of the service for clients: the configured one, otherwise the one that the request was sent to. */
export const BaseUrl = (): ParameterDecorator => TheRequest(BaseUrlOf);
