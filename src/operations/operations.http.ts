import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type ConditionReport, Conditions, type FollowerCondition, Measurements } from '../kernel/conditions.js';

/** What those who run the service ask it. No credential is needed, and nothing here tells anything about its users. */
@Controller()
export class OperationsController {
  constructor(
    private readonly conditions: Conditions,
    private readonly measurements: Measurements,
  ) {}

  /** The process is up and answers. */
  @Get('api/health')
  health() {
    return { status: 'ok' };
  }

  /** Whether the process can do its work: 503 when something it rests on is away, or a read model has to be rebuilt. */
  @Get('api/ready')
  async ready(@Res({ passthrough: true }) reply: FastifyReply) {
    const report = await this.conditions.report();
    const isReady = report.readiness !== 'not_ready';
    void reply.status(isReady ? 200 : 503).header('Cache-Control', 'no-store');
    if (!isReady) void reply.header('Retry-After', '5');
    return bodyOf(report);
  }

  @Get('metrics')
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
