import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { Test } from '@nestjs/testing';
import { type ConditionReport, Conditions, Measurements } from '../../kernel/conditions.js';
import { observeRequests } from '../../platform/telemetry/observe-requests.js';
import { PrometheusMeasurements } from '../../platform/telemetry/prometheus-measurements.js';
import { OperationsModule } from './operations.module.js';
import { READINESS } from './readiness.http.js';

const follower = { ok: true, position: '7', behind: '2', secondsBehind: 3, parked: 1, held: 4 };
const good: ConditionReport = {
  readiness: 'ready',
  reasons: [],
  dependencies: { postgres: { ok: true, ms: 1 } },
  projections: { agents: follower },
  reactions: { 'run-turn': { ...follower, error: 'tired' } },
  snapshotSeconds: 4.5,
};

type Documented = { content: { 'application/json': { schema: typeof READINESS } } };

describe('the operations routes', () => {
  let app: NestFastifyApplication;
  let report: ConditionReport = good;

  beforeAll(async () => {
    const conditions: Conditions = { report: async () => report };
    const measurements = new PrometheusMeasurements(conditions);
    const module = await Test.createTestingModule({ imports: [OperationsModule] })
      .useMocker((token) => (token === Conditions ? conditions : token === Measurements ? measurements : undefined))
      .compile();
    app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter());
    observeRequests(app.getHttpAdapter().getInstance(), measurements);
    await app.listen(0, '127.0.0.1');
  });
  afterAll(() => app.close());

  async function get(path: string) {
    const response = await fetch(`${await app.getUrl()}${path}`);
    return { status: response.status, headers: response.headers, body: await response.text() };
  }

  it('report that the process is up', async () => {
    const { status, body } = await get('/api/health');
    expect([status, body]).toEqual([200, '{"status":"ok"}']);
  });

  it('report readiness and lag, and answer 503 if a dependency is unavailable', async () => {
    report = good;
    const ready = await get('/api/ready');
    expect(ready.status).toBe(200);
    expect(Object.keys(JSON.parse(ready.body) as object).sort()).toEqual([...READINESS.required].sort());
    expect(JSON.parse(ready.body)).toMatchObject({
      status: 'ready',
      reasons: [],
      dependencies: { postgres: { ok: true } },
      projections: { agents: { behind: '2', seconds_behind: 3, parked: 1, held: 4 } },
      reactions: { 'run-turn': { error: 'tired' } },
    });
    const reasons = ['postgres does not answer: away'];
    report = { ...good, readiness: 'not_ready', reasons, dependencies: { postgres: { ok: false, ms: 2000, error: 'away' } } };
    const away = await get('/api/ready');
    expect([away.status, away.headers.get('retry-after')]).toEqual([503, '5']);
    expect(JSON.parse(away.body)).toMatchObject({ status: 'not_ready', reasons, dependencies: { postgres: { error: 'away' } } });
  });

  it('report a degraded process with the reason and without refusing requests', async () => {
    report = { ...good, readiness: 'degraded', reasons: ['No worker is alive.'] };
    const degraded = await get('/api/ready');
    expect([degraded.status, degraded.headers.get('retry-after')]).toEqual([200, null]);
    expect(JSON.parse(degraded.body)).toMatchObject({ status: 'degraded', reasons: ['No worker is alive.'] });
  });

  it('are in the API reference with all statuses of readiness', () => {
    const { paths } = SwaggerModule.createDocument(app, new DocumentBuilder().build());
    const { responses } = paths['/api/ready']!.get! as unknown as { responses: Record<string, Documented> };
    const [ready, notReady] = ['200', '503'].map((status) => responses[status]!.content['application/json'].schema);
    expect(ready!.properties.status.enum).toEqual(['ready', 'degraded', 'not_ready']);
    expect(ready!.required).toEqual(['status', 'reasons', 'dependencies', 'projections', 'reactions']);
    expect(notReady).toEqual({ anyOf: [ready, { $ref: '#/components/schemas/Refusal' }] });
  });

  it('measure requests by route, and followers', async () => {
    report = good;
    await get('/api/health');
    await get('/nowhere/at/all');
    const { body, headers } = await get('/metrics');
    expect(headers.get('content-type')).toContain('text/plain');
    expect(body).toMatch(/verbatim_http_request_seconds_count\{method="GET",route="\/api\/health",status="200"\} \d+/);
    expect(body).not.toContain('nowhere');
    expect(body).toContain('verbatim_follower_behind{kind="projection",name="agents"} 2');
    expect(body).toContain('verbatim_follower_held_events{kind="reaction",name="run-turn"} 4');
    expect(body).toContain('verbatim_dependency_up{dependency="postgres"} 1');
    expect(body).toContain('verbatim_http_open_requests 1');
    expect(body).toContain('verbatim_oldest_snapshot_seconds 4.5');
    report = { ...good, snapshotSeconds: null };
    expect((await get('/metrics')).body).toContain('verbatim_oldest_snapshot_seconds Nan');
  });
});
