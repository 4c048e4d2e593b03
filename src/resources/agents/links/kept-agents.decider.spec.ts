import { expect, it } from '@jest/globals';
import { keep, KEPT_AGENTS_MAX, keptAgents, removeKept } from './kept-agents.decider.js';

const now = new Date('2026-01-01T00:00:00Z');
const after = (...links: readonly (readonly [string, string])[]) => new Map(links);

it('keeps an agent once for each of its links', () => {
  const [event] = keep('bob', 'a1', 'l1', now)(after());
  expect(event).toMatchObject({ type: 'AgentKept', data: { userId: 'bob', agentId: 'a1', linkId: 'l1' } });
  const state = keptAgents.evolve(after(), event!);
  expect(keep('bob', 'a1', 'l1', now)(state)).toEqual([]);
  expect(keep('bob', 'a1', 'l2', now)(state)).toHaveLength(1);
});

it('removes an agent that is in the list, and refuses any other', () => {
  const [event] = removeKept('bob', 'a1')(after(['a1', 'l1']));
  expect([...keptAgents.evolve(after(['a1', 'l1']), event!)]).toEqual([]);
  expect(() => removeKept('bob', 'a2')(after(['a1', 'l1']))).toThrow(expect.objectContaining({ code: 'shared-agent-not-found' }));
});

it(`keeps at most ${KEPT_AGENTS_MAX} agents`, () => {
  const full = after(...Array.from({ length: KEPT_AGENTS_MAX }, (_, n) => [`a${n}`, 'l'] as const));
  expect(() => keep('bob', 'one more', 'l', now)(full)).toThrow(expect.objectContaining({ code: 'too-many-kept-agents' }));
  expect(keep('bob', 'a1', 'another', now)(full)).toHaveLength(1);
});
