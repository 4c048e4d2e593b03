import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Rejection } from '../../kernel/rejection.js';

/** A guard for routes that take JSON and nothing else: 415 for a body of another type. */
export class JsonBodyOnly implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers, body } = context.switchToHttp().getRequest<FastifyRequest>();
    const type = headers['content-type'];
    if (type === undefined && body === undefined) return true;
    if (type?.split(';', 1)[0]!.trim().toLowerCase() === 'application/json') return true;
    throw new Rejection('media-type-not-accepted', 'The request body must be JSON, with Content-Type: application/json.');
  }
}
