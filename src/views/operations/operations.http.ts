import { Controller, Get, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiServiceUnavailableResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { type ConditionReport, Conditions, type FollowerCondition, Measurements } from '../../kernel/conditions.js';
import { HEALTH, READINESS } from './readiness.http.js';
import { Access } from '../../platform/http/access.js';

/** Routes for operators. They need no credential and reveal nothing about users. */
@ApiTags('Operations')
@Controller()
export class OperationsController {
  constructor(
    private readonly conditions: Conditions,
    private readonly measurements: Measurements,
  ) {}

  @Access({ for: 'anyone', action: 'describe', of: 'service', scopes: 'any-token' })
  @Get('api/health')
  @ApiOperation({ summary: 'Whether the process is up.' })
  @ApiOkResponse({ description: 'The process is up.', schema: HEALTH })
  health() {
    return { status: 'ok' };
  }

  @Access({ for: 'anyone', action: 'describe', of: 'service', scopes: 'any-token' })
  @Get('api/ready')
  @ApiOperation({
    summary: 'Whether the process is ready, and the reasons if it is not.',
    description: 'For load balancers: a process that answers 200 accepts requests. No credential is needed.',
  })
  @ApiOkResponse({
    description:
      '`ready`: everything works. `degraded`: requests are answered, but something has stopped, as `reasons` says: no worker or no ' +
      'projector is alive, a read model or a reaction fails, no space is left in `DATA_DIR`, or the demo agent could not be created.',
    schema: READINESS,
  })
  @ApiServiceUnavailableResponse({
    description:
      '`not_ready`: a dependency does not answer (for the embedded Postgres the reason also says why it ended), Postgres is read-only, a read model has to be ' +
      'rebuilt or failed before its first checkpoint, or the first start is still creating the demo agent. A process that is ' +
      'shutting down refuses this request as all others. `Retry-After` says when to ask again.',
    schema: { anyOf: [READINESS, { $ref: '#/components/schemas/Refusal' }] },
  })
  async ready(@Res({ passthrough: true }) reply: FastifyReply) {
    const report = await this.conditions.report();
    const isReady = report.readiness !== 'not_ready';
    void reply.status(isReady ? 200 : 503).header('Cache-Control', 'no-store');
    if (!isReady) void reply.header('Retry-After', '5');
    return bodyOf(report);
  }

  @Access({ for: 'anyone', action: 'describe', of: 'service', scopes: 'any-token' })
  @Get('metrics')
  @ApiOperation({ summary: 'The measurements of this process, for Prometheus.' })
  @ApiProduces('text/plain')
  async metrics(@Res({ passthrough: true }) reply: FastifyReply) {
    const { contentType, body } = await this.measurements.text();
    void reply.header('Content-Type', contentType);
    return body;
  }
}

const bodyOf = ({ readiness, reasons, dependencies, projections, reactions }: ConditionReport) => ({
  status: readiness,
  reasons,
  dependencies,
  projections: mapValues(projections, followerBody),
  reactions: mapValues(reactions, followerBody),
});

const followerBody = ({ secondsBehind, ...rest }: FollowerCondition) => ({ ...rest, seconds_behind: secondsBehind });

const mapValues = <T, R>(record: Readonly<Record<string, T>>, change: (value: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
