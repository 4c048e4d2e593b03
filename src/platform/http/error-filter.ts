import { type ArgumentsHost, Catch, type ExceptionFilter, Logger, NotFoundException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Rejection } from '../../kernel/rejection.js';
import { renderError } from './error-bodies.js';
import { type Failure, failureOf } from './errors.js';
import type { KnownRoutes } from './known-routes.js';
import type { Rejections } from './rejections.js';

/** Converts every error of a request into the documented error body of its route. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Http');

  constructor(
    private readonly routes: KnownRoutes,
    private readonly rejections: Rejections,
    private readonly isDownForSpace?: () => boolean,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost) {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const path = pathOf(request);
    const failure =
      this.unknownPath(thrown, request, reply, path) ?? failureOf(thrown, request.id, this.rejections, this.isDownForSpace);
    if (!hasLeft(reply, thrown)) this.log(thrown, failure, request);
    if (reply.sent || reply.raw.headersSent) {
      reply.raw.destroy();
      return;
    }
    const { headers, body } = renderError(path, failure);
    // The time of the rejection takes precedence over the default of its code.
    if (failure.retryAfterSeconds !== undefined && !reply.hasHeader('Retry-After'))
      void reply.header('Retry-After', String(failure.retryAfterSeconds));
    void reply.status(failure.status).headers(headers).send(body);
  }

  private unknownPath(thrown: unknown, request: FastifyRequest, reply: FastifyReply, path: string): Failure | undefined {
    if (!(thrown instanceof NotFoundException) || !/^Cannot [A-Z]+ /.test(thrown.message)) return undefined;
    const allowed = this.routes.methodsAt(path);
    if (allowed.length === 0) return { status: 404, message: 'Not found', json: true };
    void reply.header('Allow', allowed.join(', '));
    return { status: 405, message: `${request.method} is not allowed here, only ${allowed.join(', ')}.`, json: true };
  }

  private log(thrown: unknown, failure: Failure, request: FastifyRequest) {
    if (thrown instanceof Rejection && !(thrown.code in this.rejections))
      this.logger.error(`The rejection code ${thrown.code} is in no list of rejections.`);
    if (!failure.unexpected) return;
    // Logs the route pattern, because a path may contain a secret, such as a webhook token.
    const report = `${request.method} ${request.routeOptions.url ?? 'nowhere'} answered ${failure.status} (request ${request.id})`;
    this.logger.error(report, thrown instanceof Error ? thrown.stack : thrown);
  }
}

/** Whether the request was aborted because its client left, which is no error. */
const hasLeft = ({ raw }: FastifyReply, thrown: unknown): boolean =>
  raw.destroyed && thrown instanceof DOMException && thrown.name === 'AbortError';

const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0]!;
