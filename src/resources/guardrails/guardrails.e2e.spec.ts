import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { serviceForTests, type TestService } from '../../../test/support/service.js';
import { eventually } from '../../../test/support/eventually.js';
import { userIdOf } from '../../../test/support/user-id.js';
import { cause } from '../../../test/support/turns.js';
import { Commands } from '../../kernel/commands.js';
import { newId } from '../../kernel/ids.js';
import { SessionTokens } from '../identity/session-tokens.js';
import type { GuardrailDecision } from './guardrail-decisions.policy.js';
import { RecordGuardrailDecisions } from './guardrail-record.commands.js';

const FLOOR = { enabled: true, mode: 'scan_all', controls: [{ check: 'secrets', stage: 'output', action: 'redact' }] };

let service: TestService;
let alice: string;
let bearer: Readonly<Record<string, string>>;
type Reply = Readonly<{ status: number; body: Record<string, unknown> }>;

beforeAll(async () => {
  service = await serviceForTests({
    AUTH_TYPE: 'session_jwt',
    GUARDRAILS_FLOOR: JSON.stringify(FLOOR),
    GUARDRAILS_CHECKS_ENABLED: 'pii,secrets',
  });
  const tokens = service.service.app.get(SessionTokens, { strict: false });
  alice = await userIdOf(service, 'alice');
  bearer = {
    alice: `Bearer ${await tokens.issue({ subject: 'alice', roles: [] })}`,
    bob: `Bearer ${await tokens.issue({ subject: 'bob', roles: [] })}`,
  };
});
afterAll(() => service.close());

async function send(
  method: string,
  path: string,
  { as = bearer['alice']!, body }: { as?: string; body?: object } = {},
): Promise<Reply> {
  const response = await fetch(service.url + path, {
    method,
    headers: { authorization: as, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}
const get = (path: string, as?: string) => send('GET', `/api/guardrails/${path}`, as === undefined ? {} : { as });

const agentOf = async () => {
  const body = { name: 'Guide', status: 'draft' };
  return (await send('POST', '/api/create_agent', { body })).body['id'] as string;
};
const tokenWith = async (fields: object) =>
  `Bearer ${(await send('POST', '/api/user/tokens', { body: { name: newId(), ...fields } })).body['token'] as string}`;

const found: GuardrailDecision = {
  ...{ stage: 'output', check: 'pii', detector: 'pattern', action: 'redact', outcome: 'triggered' },
  ...{ category: 'EMAIL', score: null, matchCount: 2 },
};
async function recorded(agentId: string | null, ...decisions: GuardrailDecision[]): Promise<string> {
  const recordId = newId();
  const commands = service.service.app.get(Commands, { strict: false });
  const subject = { recordId, ownerId: alice, agentId, messageId: recordId, requestId: 'r1' };
  for (const _ of [1, 2]) await commands.execute(new RecordGuardrailDecisions(subject, decisions, cause));
  await eventually(async () =>
    ((await get('events')).body['events'] as { message_id: string }[]).some((each) => each.message_id === recordId),
  );
  return recordId;
}

describe('the catalog', () => {
  it('lists the available checks and the floor', async () => {
    const { status, body } = await get('catalog');
    expect([status, Object.keys(body)]).toEqual([
      200,
      [
        ...['success', 'enabled', 'checks', 'stages', 'modes', 'actions_by_stage', 'default_block_message', 'pii_entities'],
        ...['default_pii_entities', 'floor'],
      ],
    ]);
    const checks = body['checks'] as Record<string, unknown>[];
    expect(checks.map(({ name, available, remote }) => [name, available, remote])).toEqual([
      ['pii', true, false],
      ['secrets', true, false],
      ['denylist', false, false],
      ['url', false, false],
      ['injection', false, false],
      ['groundedness', false, false],
      ['policy', false, true],
    ]);
    expect(Object.keys(checks[0]!)).toEqual([
      'name',
      'label',
      'description',
      'stages',
      'supports_redaction',
      'latency_hint_ms',
      'remote',
      'available',
    ]);
    expect(body).toMatchObject({
      enabled: true,
      stages: ['input', 'retrieval', 'tool_result', 'output'],
      modes: ['monitor_only', 'scan_all'],
      actions_by_stage: { input: ['flag', 'redact', 'block'] },
      default_block_message: "Sorry, I can't help with that request.",
      default_pii_entities: ['EMAIL', 'PHONE', 'US_SSN', 'CREDIT_CARD'],
      floor: { mode: 'scan_all', fail_open: true, controls: [{ check: 'secrets', stage: 'output', action: 'redact' }] },
    });
  });
});

describe('the events of guardrails', () => {
  it('are listed and counted once, and only for the owner', async () => {
    const agentId = await agentOf();
    const blocked: GuardrailDecision = { ...found, check: 'secrets', action: 'block', category: 'JWT', matchCount: 1 };
    const missed: GuardrailDecision = { ...found, stage: 'input', outcome: 'not_evaluated', category: null, matchCount: 0 };
    const recordId = await recorded(agentId, found, blocked, missed);
    const { body } = await get(`events?agent_id=${agentId}`);
    const events = body['events'] as Record<string, unknown>[];
    expect(events).toHaveLength(3);
    expect(events.find(({ check_name }) => check_name === 'secrets')).toEqual({
      ...{ id: `${recordId}:output:secrets`, agent_id: agentId, message_id: recordId, request_id: 'r1', stage: 'output' },
      ...{ check_name: 'secrets', detector_type: 'pattern', action: 'block', outcome: 'triggered', category: 'JWT', score: null },
      ...{ match_count: 1, detail: null, created_at: expect.any(String) },
    });
    expect(((await get(`events?agent_id=${agentId}&limit=2&offset=2`)).body['events'] as unknown[]).length).toBe(1);
    const summary = await get(`summary?agent_id=${agentId}&days=1`);
    expect(summary.body).toMatchObject({ success: true, totals: { blocked: 1, flagged: 0, redacted: 1, not_evaluated: 1 } });
    expect(summary.body['breakdown']).toContainEqual({
      ...{ check_name: 'pii', stage: 'output', action: 'redact', outcome: 'triggered', category: 'EMAIL', total: 1 },
    });
    expect((await get('events', bearer['bob'])).body).toEqual({ success: true, events: [] });
    for (const what of ['events', 'summary'])
      expect(await get(`${what}?agent_id=${agentId}`, bearer['bob'])).toEqual({
        status: 404,
        body: { success: false, message: 'Agent not found' },
      });
  });

  it.each(['events?limit=501', 'events?limit=x', 'events?offset=-1', 'summary?days=0', 'summary?days=366'])(
    'are refused for %s with status 400',
    async (query) => expect((await get(query)).status).toBe(400),
  );

  it('are shown to tokens that may read analytics, and only for the agents that a token may access', async () => {
    const [agentId, other] = [await agentOf(), await agentOf()];
    const reading = await tokenWith({ scopes: ['analytics:read'] });
    const restricted = await tokenWith({ scopes: ['analytics:read', 'agents:read'], resource_filter: { agents: [agentId] } });
    const chatting = await tokenWith({ scopes: ['chat:run'] });
    const statuses = async (token: string) =>
      Promise.all(
        ['events', `events?agent_id=${agentId}`, `summary?agent_id=${other}`].map(
          async (path) => (await get(path, token)).status,
        ),
      );
    expect(await statuses(reading)).toEqual([200, 200, 200]);
    expect(await statuses(restricted)).toEqual([403, 200, 403]);
    expect(await statuses(chatting)).toEqual([403, 403, 403]);
    expect((await send('GET', '/api/guardrails/events', { as: 'Bearer x' })).status).toBe(401);
  });
});

it('the service refuses a check that the operator has disabled', async () => {
  const config = { guardrails: { controls: [{ check: 'url', stage: 'input', settings: { block_hosts: ['a.b'] } }] } };
  const { status, body } = await send('POST', '/api/create_agent', { body: { name: 'Guide', status: 'draft', config } });
  expect([status, body['message']]).toEqual([400, expect.stringContaining('controls[0].check must be one of pii, secrets.')]);
});
