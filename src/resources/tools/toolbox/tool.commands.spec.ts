import { beforeEach, describe, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { MemoryCredentialVault } from '../../../../test/support/memory-credential-vault.js';
import { DerivingKindForTests, InternalKindForTests, ToolKindForTests } from '../../../../test/support/tool-kinds.js';
import { decodeCause } from '../../../kernel/event-sourcing/codec.js';
import { LOG_START, type StoredEvent } from '../../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { ChangeTool, ChangeToolHandler, CreateTool, CreateToolHandler, DeleteTool, DeleteToolHandler } from './tool.commands.js';
import { CredentialsUnreadable } from '../../../platform/credentials/credential-vault.port.js';
import {
  ACTION_NAME_CHARACTERS_MAX,
  ACTIONS_PER_TOOL_MAX,
  DEFINITION_BYTES_MAX,
  SECRETS_BYTES_MAX,
} from './definition.policy.js';
import type { ActionDefinition } from './tool.events.js';
import { ToolKinds } from './tool-kinds.js';
import { ToolSetup, type ToolWish } from './tool-setup.js';
import { systemTiming } from '../../../platform/system-timing.js';

const cause = { actor: 'user:alice', credential: 'session-token', correlationId: 'r1', causationId: 'r1' } as const;
const config = { token: 'first token' };

let store: InMemoryEventStore;
let streams: Streams;
let vault: MemoryCredentialVault;
let deriving: DerivingKindForTests;
let setup: ToolSetup;
beforeEach(() => {
  store = new InMemoryEventStore();
  streams = new Streams(store, systemTiming);
  vault = new MemoryCredentialVault();
  deriving = new DerivingKindForTests();
  setup = new ToolSetup(new ToolKinds([new ToolKindForTests(), deriving, new InternalKindForTests('think')]), vault);
});

async function log(): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const page of store.readAll({ after: LOG_START })) events.push(...page.events);
  return events;
}
const create = async (wish: ToolWish = { config }, kind = 'postcard') =>
  (await new CreateToolHandler(streams, setup).execute(new CreateTool('alice', kind, wish, cause))).toolId;
const change = (toolId: string, wish: ToolWish, requestId = 'r2') =>
  new ChangeToolHandler(streams, setup).execute(new ChangeTool(toolId, 'alice', wish, { ...cause, correlationId: requestId }));
const secrets = () => [...vault.rows.values()].map((row) => row.secrets);
const refused = (code: string) => expect.objectContaining({ code });

describe('the secrets of a tool', () => {
  it('are stored in the vault, and the event holds only their id', async () => {
    await create();
    const [event, ...more] = await log();
    expect([event!.type, more.length, decodeCause(event!.metadata).actor]).toEqual(['ToolCreated', 0, 'user:alice']);
    expect(JSON.parse(event!.data)).toMatchObject({
      definition: { config: { copies: 1 }, credentialsId: [...vault.rows.keys()][0] },
    });
    expect(event!.data).not.toContain('first token');
  });

  it('are kept when a change gives no new ones', async () => {
    const id = await create();
    const before = [...vault.rows.keys()];
    await change(id, { config: { token: '', copies: 2 } });
    await change(id, { config: { token: 'first token', copies: 3 } }, 'r3');
    await change(id, { displayName: 'Other' }, 'r4');
    expect([...vault.rows.keys()]).toEqual(before);
    expect(await log()).toHaveLength(4);
  });

  it('are not kept when an editor changes the configuration, so that the editor has to give their own', async () => {
    const id = await create();
    const edit = (wish: ToolWish, requestId: string) =>
      new ChangeToolHandler(streams, setup).execute(
        new ChangeTool(id, 'alice', wish, { ...cause, correlationId: requestId }, 'editor'),
      );
    for (const token of [undefined, ''])
      await expect(edit({ config: { token, copies: 2 } }, 'r2')).rejects.toMatchObject({
        code: 'tool-invalid',
        details: { errors: { token: expect.any(String) } },
      });
    expect(await log()).toHaveLength(1);
    await edit({ config: { token: '', copies: 1 }, displayName: 'Cards' }, 'r3');
    expect(secrets()).toEqual([{ token: 'first token' }]);
    await edit({ config: { token: 'of the editor', copies: 2 } }, 'r4');
    expect(secrets()).toEqual([{ token: 'of the editor' }]);
  });

  it('are stored under a new id when one of them changes, and the old ones are deleted', async () => {
    const id = await create({ config: { ...config, pin: '1234' } });
    await change(id, { config: { token: 'second token' } });
    expect(secrets()).toEqual([{ token: 'second token', pin: '1234' }]);
    await change(id, { secrets: { pin: '5678' } }, 'r3');
    expect(secrets()).toEqual([{ token: 'second token', pin: '5678' }]);
    const ids = (await log()).map(
      ({ data }) => (JSON.parse(data) as { changes?: { credentialsId: string } }).changes?.credentialsId,
    );
    expect(ids.at(-1)).toBe([...vault.rows.keys()][0]);
  });

  it('are not stored if the change is refused', async () => {
    await expect(create({ config: { token: 'refused' } })).rejects.toEqual(refused('invalid-request'));
    const id = await create();
    const late = change(id, { config: { token: 'late' } });
    await new DeleteToolHandler(streams, setup).execute(new DeleteTool(id, 'alice', cause));
    await expect(late).rejects.toEqual(refused('tool-not-found'));
    expect(secrets()).toEqual([]);
  });

  it('are those of one of two concurrent changes, and the other change is refused', async () => {
    const id = await create();
    const results = await Promise.allSettled(['one', 'two'].map((token) => change(id, { config: { token } }, token)));
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const lost = results.find((result) => result.status === 'rejected');
    expect(lost?.reason).toEqual(refused('tool-changed-meanwhile'));
    expect(secrets()).toEqual([{ token: results[0]!.status === 'fulfilled' ? 'one' : 'two' }]);
  });

  it('are stored even if the response of the event store is lost', async () => {
    store.failNextAppend('after');
    await create();
    expect([(await log()).length, secrets()]).toEqual([1, [config]]);
  });

  it('are required again if they cannot be read', async () => {
    const id = await create();
    vault.reveal = () => Promise.reject(new CredentialsUnreadable('altered'));
    await expect(change(id, { config: {} })).rejects.toMatchObject({ details: { errors: { token: 'Token is required' } } });
    await change(id, { config: { token: 'new' } });
    expect(secrets()).toEqual([{ token: 'new' }]);
  });
});

describe('a tool', () => {
  it.each(['nonsense', 'think', 'constructor'])('cannot be created with the kind %s', async (kind) => {
    await expect(create({ config: {} }, kind)).rejects.toEqual(refused('invalid-request'));
  });

  it('keeps only the settings that its kind declares', async () => {
    const id = await create({ config: { ...config, odd: 'x', has_encrypted_credentials: true, paper: 'thick' } });
    const [event] = await log();
    expect(JSON.parse(event!.data)).toMatchObject({ toolId: id, definition: { config: { copies: 1, paper: 'thick' } } });
    expect(event!.data).not.toMatch(/odd|has_encrypted/);
  });

  const served = (count: number, name = (index: number) => `get_${index}`): readonly ActionDefinition[] =>
    Array.from({ length: count }, (_, index) => ({
      name: name(index),
      description: '',
      active: true,
      parameters: { type: 'object', properties: {} },
    }));
  const derive = (actions: readonly ActionDefinition[]) => {
    deriving.served = actions;
    return create({ config: {} }, 'deriving');
  };

  it.each([
    ['too many actions', served(ACTIONS_PER_TOOL_MAX + 1)],
    ['two actions with the same name', served(2, () => 'get')],
    ['an action without a name', served(1, () => '')],
    ['a name that is too long', served(1, () => 'x'.repeat(ACTION_NAME_CHARACTERS_MAX + 1))],
    ['a name with a line break', served(1, () => 'a\nb')],
    [
      'parameters that cannot be compiled to a check',
      [{ ...served(1)[0]!, parameters: { type: 'object', properties: { a: { type: 'x' } } } } as const],
    ],
  ])('with %s is refused', async (_, actions) => {
    await expect(derive(actions)).rejects.toMatchObject({
      code: 'tool-invalid',
      details: { errors: { actions: expect.any(String) } },
    });
  });

  it('is accepted up to the maximum sizes', async () => {
    await derive(served(ACTIONS_PER_TOOL_MAX, (index) => String(index).padStart(ACTION_NAME_CHARACTERS_MAX, 'x')));
    const description = 'x'.repeat(DEFINITION_BYTES_MAX);
    await expect(derive([{ ...served(1)[0]!, description }])).rejects.toEqual(refused('tool-too-large'));
    await expect(create({ config: { token: 'x'.repeat(SECRETS_BYTES_MAX) } })).rejects.toEqual(refused('tool-too-large'));
    await expect(change(await create(), { actions: [{ name: 'send_card', description }] })).rejects.toEqual(
      refused('tool-too-large'),
    );
    expect(secrets()).toHaveLength(1);
  });

  it('whose owner defines its actions has them only in the configuration', async () => {
    const own = { actions: { act: { ...served(1)[0]!, name: 'act' } } };
    const id = await create({ config: own }, 'deriving');
    await expect(change(id, { actions: [{ name: 'act', active: false }] })).rejects.toEqual(refused('tool-invalid'));
    const next = { actions: { act: { ...own.actions.act, require_approval: true } } };
    await change(id, { config: next, actions: [{ name: 'act' }] });
    const [, changed] = await log();
    expect(JSON.parse(changed!.data)).toMatchObject({ changes: { actions: [{ name: 'act', require_approval: true }] } });
  });
});
