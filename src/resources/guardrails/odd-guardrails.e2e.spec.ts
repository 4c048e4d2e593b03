import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Client } from '../../../test/support/client.js';
import { FUZZ_RUNS } from '../../../test/support/fuzz-runs.js';
import { anyGuardrails, BAD_GUARDRAILS, GUARDRAILS_INVALID } from '../../../test/support/guardrail-configs.js';
import { serviceForTests, type TestService } from '../../../test/support/service.js';

let service: TestService;
let client: Client;
let agentId: string;
beforeAll(async () => {
  service = await serviceForTests();
  client = new Client(service.url);
  const created = await client.post('/api/create_agent', { name: 'Guide', status: 'draft' });
  ({ id: agentId } = (await created.json()) as { id: string });
});
afterAll(() => service.close());

const eventsOfAgents = async () => {
  const [row] = await service.database.sql`select count(*)::int as n from event_store.event where type like 'Agent%'`;
  return row!['n'] as number;
};
/** Sends the guardrails with a new agent and with a change of an agent. */
const sent = (guardrails: unknown) => [
  client.post('/api/create_agent', { name: 'Odd', status: 'draft', config: { guardrails } }),
  client.put(`/api/update_agent/${agentId}`, { config: { guardrails } }),
];

it.each(BAD_GUARDRAILS)('a guardrail configuration %s is refused and nothing is stored', async (_, guardrails, problem) => {
  const before = await eventsOfAgents();
  for (const response of await Promise.all(sent(guardrails))) {
    const { message } = (await response.json()) as { message: string };
    expect([response.status, message]).toEqual([400, expect.stringContaining(`${GUARDRAILS_INVALID}${problem}`)]);
  }
  expect(await eventsOfAgents()).toBe(before);
});

it('any guardrail configuration is either stored or refused, and a refused one stores nothing', async () => {
  await fc.assert(
    fc.asyncProperty(anyGuardrails, async (guardrails) => {
      const before = await eventsOfAgents();
      const [created, updated] = await Promise.all(sent(guardrails));
      const statuses = [created!.status, updated!.status];
      expect([
        [201, 200],
        [400, 400],
      ]).toContainEqual(statuses);
      if (created!.status === 400) expect(await eventsOfAgents()).toBe(before);
    }),
    { numRuns: FUZZ_RUNS },
  );
});
