import { NO_GRANTS } from '../../../test/support/no-grants.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { AgentFolderQueries } from '../../../projections/agents/agent-folders.queries.js';
import type { PromptQueries } from '../../../projections/prompts/prompts.queries.js';
import type { SourceQueries } from '../../../projections/sources/sources.queries.js';
import type { WorkflowQueries } from '../../../projections/workflows/workflows.queries.js';
import type { ToolQueries } from '../../../projections/tools/tools.queries.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { MemoryCredentialVault } from '../../../test/support/memory-credential-vault.js';
import { agentKeyHash } from '../identity/agent-keys.policy.js';
import { decodeCause } from '../../kernel/event-sourcing/codec.js';
import { LOG_START, type StoredEvent } from '../../kernel/event-sourcing/event-store.js';
import { newId } from '../../kernel/ids.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { AccessibleReferences } from './accessible-references.js';
import { agentCodec } from './agent.codec.js';
import { agentStream } from './agent.events.js';
import { BLANK_AGENT } from './agent.policy.js';
import {
  CreateAgent,
  CreateAgentHandler,
  DeleteAgent,
  DeleteAgentHandler,
  MintAgentWebhook,
  MintAgentWebhookHandler,
  PinAgent,
  PinAgentHandler,
  RegenerateAgentKey,
  RegenerateAgentKeyHandler,
  UpdateAgent,
  UpdateAgentHandler,
} from './agent.commands.js';
import { webhookTokenHash } from './webhook-token.policy.js';
import { WebhookTokens } from './webhook-tokens.js';
import { systemTiming } from '../../platform/system-timing.js';

const causeOf = (requestId: string) =>
  ({ actor: 'user:alice', credential: 'session-token', correlationId: requestId, causationId: requestId }) as const;
const cause = causeOf('r1');
const clock = { now: () => new Date('2026-01-01T00:00:00Z') };
const [source, prompt, tool] = [newId(), newId(), newId()];
const configuration = { ...BLANK_AGENT, name: 'Guide', description: 'Knows' };

let store: InMemoryEventStore;
let streams: Streams;
let vault: MemoryCredentialVault;
let references: AccessibleReferences;
beforeEach(() => {
  store = new InMemoryEventStore();
  streams = new Streams(store, systemTiming);
  vault = new MemoryCredentialVault();
  const own = (id: string) => async (ids: readonly string[]) =>
    ids.filter((each) => each === id).map((each) => ({ id: each, ownerId: 'alice' }));
  const prompts = {
    byId: async (id: string) => (id === prompt ? { id, ownerId: 'alice' } : undefined),
  } as unknown as PromptQueries;
  const tools = { among: own(tool) };
  const workflows = { byId: async () => undefined } as unknown as WorkflowQueries;
  const sources = { among: own(source) } as unknown as SourceQueries;
  const folders = { byId: async () => undefined } as unknown as AgentFolderQueries;
  references = new AccessibleReferences(prompts, sources, tools as unknown as ToolQueries, workflows, folders, NO_GRANTS);
});

async function log(): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const page of store.readAll({ after: LOG_START })) events.push(...page.events);
  return events;
}
const typesInLog = async () => (await log()).map(({ type }) => type);
const create = (more: Partial<CreateAgent['wanted']> = {}, ownerId = 'alice') =>
  new CreateAgentHandler(streams, clock, references, new WebhookTokens(vault)).execute(
    new CreateAgent(ownerId, { configuration, status: 'published', ...more }, cause),
  );
const update = (agentId: string, change: UpdateAgent['change'], requestId = 'r2') =>
  new UpdateAgentHandler(streams, clock, references).execute(new UpdateAgent(agentId, 'alice', change, causeOf(requestId)));

describe('creating an agent', () => {
  it('appends events with the cause and only the hash of the key', async () => {
    const { agentId, key, position } = await create();
    const events = await log();
    expect(events.map(({ type }) => type)).toEqual(['AgentCreated', 'AgentWebhookMinted', 'AgentPublished', 'AgentKeyIssued']);
    expect(events.every((event) => event.stream === agentStream(agentId))).toBe(true);
    expect(events.map(({ metadata }) => decodeCause(metadata).actor)).toEqual(Array(4).fill('user:alice'));
    expect(JSON.parse(events[3]!.data)).toMatchObject({ key: { hash: agentKeyHash(key) } });
    expect(events.map(({ data }) => data).join()).not.toContain(key);
    expect(position).toBe(events[3]!.position);
  });

  it('creates it once even if the reply of the store is lost', async () => {
    store.failNextAppend('after');
    const { key } = await create();
    expect(await typesInLog()).toHaveLength(4);
    expect(key).not.toBe('');
  });

  it('does not return the key when a repeated command creates nothing', async () => {
    const id = newId();
    const first = await create({ id, key: 'demo' });
    const second = await create({ id, key: 'demo' });
    expect([first.key, second.key]).toEqual(['demo', '']);
    expect(await typesInLog()).toHaveLength(4);
  });

  it.each([
    ['source', { source }],
    ['additional source', { additionalSources: [source] }],
    ['prompt', { promptId: prompt }],
    ['tool', { tools: [tool] }],
  ])('accepts a %s of the owner and refuses one of another user', async (_, uses) => {
    await create({ configuration: { ...configuration, ...uses } });
    await expect(create({ configuration: { ...configuration, ...uses } }, 'bob')).rejects.toMatchObject({
      code: expect.stringMatching(/-not-accessible$/),
    });
  });
});

describe('changing an agent', () => {
  it('decides again after a concurrent append, so that both changes are kept', async () => {
    const { agentId } = await create();
    await Promise.all([update(agentId, { changes: { name: 'Other' } }, 'r2'), update(agentId, { changes: { chunks: 3 } }, 'r3')]);
    expect((await typesInLog()).slice(4)).toEqual(['AgentUpdated', 'AgentUpdated']);
  });

  it('succeeds for only one of two editors who read the same version', async () => {
    const { agentId } = await create();
    const expectedUpdatedAt = clock.now();
    const results = await Promise.allSettled(
      ['One', 'Two'].map((name) => update(agentId, { changes: { name }, expectedUpdatedAt }, name)),
    );
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('returns the key only with the first publication', async () => {
    const { agentId, key } = await create({ status: 'draft' });
    const published = await update(agentId, { changes: {}, status: 'published' });
    const renamed = await update(agentId, { changes: { name: 'Other' } }, 'r3');
    expect([key, published.key !== '', renamed.key]).toEqual(['', true, '']);
  });
});

describe('the webhook of an agent', () => {
  const tokens = () => [...vault.rows.values()].map(({ secrets }) => secrets['token']!);
  const mint = (agentId: string) =>
    new MintAgentWebhookHandler(streams, new WebhookTokens(vault)).execute(new MintAgentWebhook(agentId, 'alice', causeOf('r7')));

  it('is created with the agent, and the log contains only the hash of its token', async () => {
    const { agentId } = await create();
    const [token] = tokens();
    const { data } = (await log()).find(({ type }) => type === 'AgentWebhookMinted')!;
    expect(JSON.parse(data)).toMatchObject({ agentId, webhook: { hash: webhookTokenHash(token!) } });
    expect(data).not.toContain(token);
    expect(Buffer.from(token!, 'base64url')).toHaveLength(32);
  });

  it('stays the same for repeated requests, which leave no other token in the vault', async () => {
    const { agentId } = await create();
    const asked = await Promise.all([mint(agentId), mint(agentId)]);
    expect(new Set(asked.map(({ webhook }) => webhook.hash))).toEqual(new Set([webhookTokenHash(tokens()[0]!)]));
    expect(tokens()).toHaveLength(1);
  });

  it('is created once by concurrent requests for an agent without a webhook', async () => {
    const agentId = newId();
    const data = { agentId, ownerId: 'alice', createdAt: '2026-01-01T00:00:00.000Z', configuration };
    await streams.append(agentStream(agentId), 'none', agentCodec, [{ type: 'AgentCreated', data }], cause);
    const asked = await Promise.all([mint(agentId), mint(agentId), mint(agentId)]);
    expect(new Set(asked.map(({ webhook }) => webhook.hash))).toEqual(new Set([webhookTokenHash(tokens()[0]!)]));
    expect([tokens().length, await typesInLog()]).toEqual([1, ['AgentCreated', 'AgentWebhookMinted']]);
  });

  it('leaves no token in the vault when the agent is refused or deleted', async () => {
    await expect(create({ configuration: BLANK_AGENT })).rejects.toMatchObject({ code: 'agent-not-publishable' });
    const { agentId } = await create();
    await new DeleteAgentHandler(streams, new WebhookTokens(vault)).execute(new DeleteAgent(agentId, 'alice', cause));
    expect(tokens()).toEqual([]);
  });
});

it('regenerating a key, pinning and deleting append their events', async () => {
  const { agentId, key } = await create();
  const renewed = await new RegenerateAgentKeyHandler(streams).execute(new RegenerateAgentKey(agentId, 'alice', causeOf('r2')));
  await new PinAgentHandler(streams).execute(new PinAgent(agentId, 'alice', true, causeOf('r3')));
  await new PinAgentHandler(streams).execute(new PinAgent(agentId, 'alice', false, causeOf('r4')));
  await new DeleteAgentHandler(streams, new WebhookTokens(vault)).execute(new DeleteAgent(agentId, 'alice', causeOf('r5')));
  await new DeleteAgentHandler(streams, new WebhookTokens(vault)).execute(new DeleteAgent(agentId, 'alice', causeOf('r6')));
  expect(renewed.key).not.toBe(key);
  expect((await typesInLog()).slice(4)).toEqual([
    'AgentKeyRevoked',
    'AgentKeyIssued',
    'AgentPinned',
    'AgentUnpinned',
    'AgentKeyRevoked',
    'AgentDeleted',
  ]);
});
