import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Rejection } from '../../../kernel/rejection.js';

const JSON_TYPE = /^application\/json$/;
const ANY_JSON_TYPE = /^application\/(?:json|[^/]+\+json)$/;

/** A guard for routes that accept only JSON. Another content type gets 415. */
export class JsonBodyOnly implements CanActivate {
  protected readonly types: RegExp = JSON_TYPE;

  canActivate(context: ExecutionContext): boolean {
    const { headers, body } = context.switchToHttp().getRequest<FastifyRequest>();
    const type = headers['content-type'];
    if (type === undefined && body === undefined) return true;
    if (type !== undefined && this.types.test(type.split(';', 1)[0]!.trim().toLowerCase())) return true;
    throw new Rejection('media-type-not-accepted', 'The request body must be JSON, with Content-Type: application/json.');
  }
}

/** A guard for routes that accept any JSON content type, such as `application/problem+json`. */
export class AnyJsonBodyOnly extends JsonBodyOnly {
  protected override readonly types = ANY_JSON_TYPE;
}
