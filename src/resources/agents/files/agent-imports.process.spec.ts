import { describe, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import type { Command, Commands } from '../../../kernel/commands.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { agent } from '../agent.decider.js';
import { type AgentEvent, agentStream } from '../agent.events.js';
import { BLANK_AGENT } from '../agent.policy.js';
import type { ImportedAgent } from '../imported-agent.policy.js';
import { accept, agentImport } from './agent-import.decider.js';
import { FinishAgentImport } from './agent-import.commands.js';
import { type AgentImportAccepted, agentImportStream } from './agent-import.events.js';
import { AgentImports } from './agent-imports.process.js';
import { ReleaseAgentSlugs } from './agent-slugs.commands.js';

const cause = { actor: 'user:ann', credential: 'session-token', correlationId: 'r', causationId: 'r' } as const;
const AT = '2026-01-01T00:00:00.000Z';
const configuration = { ...BLANK_AGENT, name: 'Flow', slug: 'flow' };

describe('an import that has been applied to its agent', () => {
  const untouched: readonly AgentEvent[] = [];
  const deleted: readonly AgentEvent[] = [{ type: 'AgentDeleted', data: { agentId: 'a1' } }];
  it.each([
    ['unchanged', untouched],
    ['deleted since then', deleted],
  ])('is recorded as finished without repeating its steps, with the agent %s', async (_, since) => {
    const streams = new Streams(new InMemoryEventStore(), systemTiming);
    const accepted: AgentImportAccepted['data'] = {
      ...{ importId: 'i1', ownerId: 'ann', agentId: 'a1', slug: 'flow', deletes: null, warnings: [] },
      action: 'created',
      imported: { agentType: 'classic' } as ImportedAgent,
    };
    const parts = [{ kind: 'prompt', id: 'p1', name: 'P', content: 'Arr.' }] as const;
    await streams.transact(agentImportStream('i1'), agentImport, accept(accepted, 0, parts), cause);
    const data = { agentId: 'a1', ownerId: 'ann', createdAt: AT, configuration, importId: 'i1' };
    const made: AgentEvent = { type: 'AgentCreated', data };
    const { position } = await streams.transact(agentStream('a1'), agent, () => [made, ...since], cause);
    const executed: Command<unknown>[] = [];
    const commands = { execute: (command: Command<unknown>) => Promise.resolve(executed.push(command)) } as unknown as Commands;
    const outcome = await new AgentImports(streams, commands, {} as never).complete('i1', cause);
    // The caller waits for the agent at this position, also if another process has finished the import.
    expect(outcome).toMatchObject({ agentId: 'a1', slug: 'flow', status: 'draft', action: 'created', position });
    expect(position).toBeDefined();
    expect(executed).toEqual([
      expect.objectContaining({ agentId: 'a1', kept: 'flow' }),
      expect.objectContaining({ importId: 'i1', agentId: 'a1' }),
    ]);
    expect(executed.map(({ constructor }) => constructor)).toEqual([ReleaseAgentSlugs, FinishAgentImport]);
  });
});
