import { granting } from '../../../../test/support/no-grants.js';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { ToolQueries } from '../../../../projections/tools/tools.queries.js';
import { failNextReads } from '../../../../test/support/away-store.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { MemoryCredentialVault } from '../../../../test/support/memory-credential-vault.js';
import { InternalKindForTests, ToolKindForTests } from '../../../../test/support/tool-kinds.js';
import { StoreUnavailable } from '../../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { ChangeTool, ChangeToolHandler, CreateTool, CreateToolHandler, DeleteTool, DeleteToolHandler } from './tool.commands.js';
import { defaultToolId } from '../defaults/default-tools.policy.js';
import { CredentialsUnreadable } from '../../../platform/credentials/credential-vault.port.js';
import {
  ACTION_PUT_AWAY,
  CREDENTIALS_REPLACED,
  CREDENTIALS_UNREADABLE,
  NOT_SHARED,
  PUT_AWAY,
  REMOVED,
  StoredToolbox,
} from './stored-toolbox.js';
import { SwitchDefaultTool, SwitchDefaultToolHandler } from '../defaults/default-tools.commands.js';
import { ToolHistory } from './tool-history.js';
import { type CallContext, SignInRequired, ToolFailed } from './tool-kind.port.js';
import { ToolKinds } from './tool-kinds.js';
import { ToolSetup, type ToolWish } from './tool-setup.js';
import type { ToolPin, ToolScope } from './toolbox.port.js';
import { systemTiming } from '../../../platform/system-timing.js';

const cause = { actor: 'user:alice', credential: 'session-token', correlationId: 'r1', causationId: 'r1' } as const;
const SECRET = 'tok_planted&1';

let store: InMemoryEventStore;
let kind: ToolKindForTests;
let vault: MemoryCredentialVault;
let streams: Streams;
let setup: ToolSetup;
let toolbox: StoredToolbox;
let on: { id: string; revision: number }[];
let off: Set<string>;
/** The tools that Alice shares with others. */
let held: Set<string>;

beforeEach(() => {
  store = new InMemoryEventStore();
  streams = new Streams(store, systemTiming);
  vault = new MemoryCredentialVault();
  kind = new ToolKindForTests();
  const kinds = new ToolKinds([kind, ...['memory', 'think', 'internal_search'].map((name) => new InternalKindForTests(name))]);
  setup = new ToolSetup(kinds, vault);
  [on, off, held] = [[], new Set(), new Set()];
  const queries = {
    switchedOn: async (_: string, ids?: readonly string[]) => on.filter(({ id }) => ids?.includes(id) ?? true),
    switchedOffDefaults: async () => off,
  };
  toolbox = new StoredToolbox(queries as unknown as ToolQueries, new ToolHistory(streams), streams, kinds, vault, granting(held));
});

const create = async (wish: ToolWish = {}): Promise<ToolPin> => {
  const wanted = { config: { token: SECRET }, ...wish };
  const { toolId } = await new CreateToolHandler(streams, setup).execute(new CreateTool('alice', 'postcard', wanted, cause));
  return { toolId, revision: 0 };
};
const change = (toolId: string, wish: ToolWish) =>
  new ChangeToolHandler(streams, setup).execute(new ChangeTool(toolId, 'alice', wish, cause));
const open = (pins: readonly ToolPin[], scope: Partial<ToolScope> = {}) =>
  toolbox.open({ pins, ownerId: 'alice', agentId: 'a1', agentType: 'classic', hasSources: false, ...scope });
const context = (more: Partial<CallContext> = {}): CallContext => ({
  callId: 'call1',
  userId: 'alice',
  agentId: 'a1',
  conversationId: 'c1',
  turnId: 't1',
  sources: [],
  cause,
  signal: new AbortController().signal,
  ...more,
});
const run = async (pins: readonly ToolPin[], args: Record<string, unknown> = { to: 'Bob' }, scope: Partial<ToolScope> = {}) => {
  const tools = await open(pins, scope);
  return tools.run(
    tools.actions.find(({ actionName }) => actionName === 'send_card')!,
    args,
    context(),
  );
};
const failed = (text: string) => expect.objectContaining({ name: ToolFailed.name, message: expect.stringContaining(text) });

describe('a turn', () => {
  it('is offered the active actions, with only the parameters that a model fills', async () => {
    const pin = await create();
    const { actions, notices } = await open([pin]);
    expect(notices).toEqual([]);
    expect(actions).toEqual([
      {
        toolId: pin.toolId,
        toolName: 'postcard',
        actionName: 'send_card',
        description: 'Sends a card',
        parameters: {
          type: 'object',
          properties: { to: { type: 'string', description: 'Who gets it' }, stamps: { type: 'integer', minimum: 1 } },
          required: ['to'],
        },
        access: 'write',
        idempotent: false,
        requiresApproval: false,
        ownerCredentials: true,
      },
      expect.objectContaining({ actionName: 'list_cards', access: 'read', idempotent: true }),
    ]);
    await change(pin.toolId, { actions: [{ name: 'send_card', require_approval: true }] });
    expect((await open([{ ...pin, revision: 1 }])).actions).toEqual([
      expect.objectContaining({ actionName: 'send_card', requiresApproval: true }),
    ]);
  });

  it('is offered tools as they were pinned, despite later changes', async () => {
    const pin = await create({ actions: undefined });
    await change(pin.toolId, { config: { paper: 'thick' } });
    await run([pin]);
    expect(kind.calls[0]?.tool.definition.config).toEqual({ copies: 1 });
    await change(pin.toolId, { actions: [] });
    expect((await open([pin])).actions).toHaveLength(2);
    expect((await open([{ ...pin, revision: 2 }])).actions).toHaveLength(0);
  });

  it('waits for its tools while the event store is away', async () => {
    const pin = await create();
    const reading = failNextReads(store, 3);
    expect((await open([pin])).actions).toHaveLength(2);
    expect(reading).toHaveBeenCalledTimes(4);
  });

  it('is not offered the tools of other users', async () => {
    const pin = await create();
    const { actions, notices } = await open([pin], { ownerId: 'bob' });
    expect([actions, notices.length]).toEqual([[], 1]);
  });

  it('is offered the search and think tools if its agent is agentic', async () => {
    const names = async (scope: Partial<ToolScope>) => (await open([], scope)).actions.map(({ toolId }) => toolId);
    expect(await names({ agentType: 'agentic', hasSources: true })).toEqual([
      'builtin:think',
      'builtin:think',
      'builtin:internal_search',
      'builtin:internal_search',
    ]);
    expect(new Set(await names({ agentType: 'agentic' }))).toEqual(new Set(['builtin:think']));
    expect(await names({})).toEqual([]);
  });
});

describe('pins', () => {
  it('are the tools that are switched on, and the default tools that the user has not switched off', async () => {
    on = [{ id: 't1', revision: 4 }];
    const memory = { toolId: defaultToolId('memory'), revision: 0 };
    expect(await toolbox.pin('alice', undefined)).toEqual([{ toolId: 't1', revision: 4 }, memory]);
    off.add('memory');
    expect(await toolbox.pin('alice', undefined)).toEqual([{ toolId: 't1', revision: 4 }]);
    expect(await toolbox.pin('alice', [memory.toolId, 'gone'])).toEqual([memory]);
  });
});

describe('a call', () => {
  it('gets the arguments of the model, the fixed values, which no model can replace, and the secrets', async () => {
    const pin = await create();
    expect(await run([pin], { to: 'Bob', from: 'Mallory', stamps: null })).toEqual({ to: 'Bob', from: 'Alice' });
    expect(kind.calls[0]?.tool).toMatchObject({ toolId: pin.toolId, ownerId: 'alice', secrets: { token: SECRET } });
  });

  it('knows which tools of the turn need no approval', async () => {
    const [free, gated] = [await create(), await create()];
    await change(gated.toolId, { actions: [{ name: 'send_card', require_approval: true }] });
    await run([free, { ...gated, revision: 1 }, { toolId: defaultToolId('memory'), revision: 0 }]);
    expect(kind.calls[0]?.context.ungatedTools).toEqual([free.toolId, defaultToolId('memory')]);
  });

  it.each([
    ['a missing argument', {}, "The arguments must have required property 'to'"],
    ['one of the wrong type', { to: ['Bob'] }, 'The argument to must be string'],
    ['one out of bounds', { to: 'Bob', stamps: 0 }, 'The argument stamps must be >= 1'],
  ])('with %s is not made, and the model gets the reason', async (_, args, text) => {
    await expect(run([await create()], args)).rejects.toEqual(failed(text));
    expect(kind.calls).toEqual([]);
  });

  it.each(['a tool of the user', 'a default tool'])('of %s waits while the event store is away', async (which) => {
    const isDefault = which === 'a default tool';
    const pin = isDefault ? { toolId: defaultToolId('memory'), revision: 0 } : await create();
    const tools = await open([pin], isDefault ? { agentId: null } : {});
    const reading = failNextReads(store, 3);
    await tools.run(tools.actions[0]!, { to: 'Bob' }, context());
    expect(reading).toHaveBeenCalledTimes(4);
  });

  it('of an idempotent action is repeated while the event store is away, unless it is aborted, and of any other is not', async () => {
    const tools = await open([await create()]);
    const [send, list] = tools.actions;
    const controller = new AbortController();
    kind.does = ({ args }) => {
      if (kind.calls.length < 4) throw new StoreUnavailable('The store is away.');
      return args;
    };
    expect(await tools.run(list!, {}, context())).toEqual({});
    expect(kind.calls).toHaveLength(4);

    kind.calls.length = 0;
    Logger.overrideLogger(false);
    await expect(tools.run(send!, { to: 'Bob' }, context())).rejects.toEqual(failed('for an unknown reason'));
    Logger.overrideLogger(undefined as never);
    expect(kind.calls).toHaveLength(1);

    kind.does = () => {
      controller.abort();
      throw new StoreUnavailable('The store is away.');
    };
    kind.calls.length = 0;
    await expect(tools.run(list!, {}, context({ signal: controller.signal }))).rejects.toEqual(failed('The call was stopped.'));
    expect(kind.calls).toHaveLength(1);
  });

  it('is asked again whether it needs approval while the event store is away', async () => {
    let asked = 0;
    Object.assign(kind, {
      approvalOf: async () => {
        if (++asked < 4) throw new StoreUnavailable('The store is away.');
        return 'needed';
      },
    });
    const tools = await open([await create()]);
    expect([await tools.actions[0]!.approvalOf!({ to: 'Bob' }), asked]).toEqual(['needed', 4]);
  });

  it('is not made if the tool was deleted', async () => {
    const pin = await create();
    await new DeleteToolHandler(streams, setup).execute(new DeleteTool(pin.toolId, 'alice', cause));
    await expect(run([pin])).rejects.toEqual(failed(REMOVED));
    expect([kind.calls, vault.rows.size]).toEqual([[], 0]);
  });

  it('is not made if the tool was switched off', async () => {
    const pin = await create();
    await change(pin.toolId, { status: false });
    await expect(run([pin])).rejects.toEqual(failed(PUT_AWAY));
  });

  it('is not made if its action was switched off or removed', async () => {
    for (const actions of [[{ name: 'send_card', active: false }], []]) {
      const pin = await create();
      await change(pin.toolId, { actions });
      await expect(run([pin])).rejects.toEqual(failed(ACTION_PUT_AWAY));
    }
    expect(kind.calls).toEqual([]);
  });

  it('is not made if the credentials cannot be decrypted, and the reason says so', async () => {
    const pin = await create();
    jest.spyOn(vault, 'reveal').mockRejectedValueOnce(new CredentialsUnreadable('Another key.'));
    await expect(run([pin])).rejects.toEqual(failed(CREDENTIALS_UNREADABLE));
  });

  it('is not made if the credentials were replaced, neither with the old ones nor with the new', async () => {
    const pin = await create();
    await change(pin.toolId, { config: { token: 'another token' } });
    await expect(run([pin])).rejects.toEqual(failed(CREDENTIALS_REPLACED));
    vault.rows.clear();
    await expect(run([{ ...pin, revision: 1 }])).rejects.toEqual(failed(CREDENTIALS_REPLACED));
    expect(kind.calls).toEqual([]);
  });

  it("of another user's tool is made only while the tool is shared, even if it was shared when the turn began", async () => {
    const pin = await create();
    held.add(pin.toolId);
    const tools = await open([pin], { ownerId: 'bob' });
    const send = () => tools.run(tools.actions[0]!, { to: 'Bob' }, context({ userId: 'bob' }));
    expect(await send()).toMatchObject({ to: 'Bob' });
    held.clear();
    await expect(send()).rejects.toEqual(failed(NOT_SHARED));
    expect((await open([pin], { ownerId: 'bob' })).actions).toEqual([]);
  });

  it('of a default tool is made until its user switches it off; agents that list it can always call it', async () => {
    const pin = { toolId: defaultToolId('memory'), revision: 0 };
    expect(await run([pin], { to: 'Bob' }, { agentId: null })).toMatchObject({ to: 'Bob' });
    await new SwitchDefaultToolHandler(streams).execute(new SwitchDefaultTool('alice', 'memory', false, cause));
    await expect(run([pin], { to: 'Bob' }, { agentId: null })).rejects.toEqual(failed(PUT_AWAY));
    expect(await run([pin])).toMatchObject({ to: 'Bob' });
  });

  it('that fails with ToolFailed gives its message to the model', async () => {
    kind.does = () => {
      throw new ToolFailed('The post office is closed.');
    };
    await expect(run([await create()])).rejects.toEqual(failed('The post office is closed.'));
  });

  it('that fails with any other error reveals nothing of it', async () => {
    const lines: unknown[] = [];
    const quiet = () => undefined;
    Logger.overrideLogger({ log: quiet, warn: quiet, error: (...line: unknown[]) => void lines.push(line) });
    kind.does = ({ args }) => {
      throw new TypeError(`${SECRET} ${JSON.stringify(args)}`);
    };
    const error = await run([await create()], { to: 'private person' }).catch((thrown: unknown) => thrown);
    Logger.overrideLogger(undefined as never);
    expect(error).toEqual(failed('for an unknown reason'));
    const log = JSON.stringify(lines);
    expect(log).toMatch(/postcard send_card of tool .* failed in call call1: TypeError/);
    for (const hidden of [SECRET, 'private person']) expect(log + String(error)).not.toContain(hidden);
  });

  it('whose result contains a secret, in any encoding, has it replaced', async () => {
    const encoded = [encodeURIComponent(SECRET), Buffer.from(SECRET).toString('base64')];
    kind.does = ({ tool }) => ({ [tool.secrets['token']!]: [`Bearer ${SECRET}`, ...encoded], n: 1, none: null });
    expect(await run([await create()])).toEqual({ '[secret]': ['Bearer [secret]', '[secret]', '[secret]'], n: 1, none: null });
    kind.does = () => {
      throw new ToolFailed(`Not accepted: ${SECRET}`);
    };
    await expect(run([await create()])).rejects.toEqual(failed('Not accepted: [secret]'));
  });

  it('that needs a new sign-in of its owner says so without the secret', async () => {
    kind.does = () => {
      throw new SignInRequired(`Sign in again: ${SECRET}`);
    };
    const refused = { name: 'SignInRequired', message: 'Sign in again: [secret]' };
    await expect(run([await create()])).rejects.toMatchObject(refused);
  });

  it('without a result returns null', async () => {
    kind.does = () => undefined;
    expect(await run([await create()])).toBeNull();
  });
});
