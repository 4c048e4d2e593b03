import { describe, expect, it } from '@jest/globals';
import { given } from '../../../../test/support/given.js';
import { agentSlugs, release, reserve, slugFor } from './agent-slugs.decider.js';
import type { AgentSlugsEvent } from './agent-slugs.events.js';

const reserved = (agentId: string, slug: string): AgentSlugsEvent => ({
  type: 'AgentSlugReserved',
  data: { ownerId: 'alice', agentId, slug },
});
const released = (agentId: string, slug: string): AgentSlugsEvent => ({
  type: 'AgentSlugReleased',
  data: { ownerId: 'alice', agentId, slug },
});
const slugOf = (past: readonly AgentSlugsEvent[], agentId: string, wanted: string): string =>
  slugFor(past.reduce(agentSlugs.evolve, agentSlugs.initial), agentId, wanted);

describe('the slug for an agent', () => {
  it('is the wanted one if nobody has it', () => expect(slugOf([], 'a1', 'guide')).toBe('guide'));
  it('has the first free number if others have the wanted one', () =>
    expect(slugOf([reserved('a1', 'guide'), reserved('a2', 'guide-2')], 'a3', 'guide')).toBe('guide-3'));
  it('is the wanted one again after another agent has released it', () =>
    expect(slugOf([reserved('a1', 'guide'), released('a1', 'guide')], 'a2', 'guide')).toBe('guide'));
  it('stays the numbered one that the agent has', () =>
    expect(slugOf([reserved('a1', 'guide'), reserved('a2', 'guide-2')], 'a2', 'guide')).toBe('guide-2'));
  it('is the wanted one if the agent has it and a numbered one', () =>
    expect(slugOf([reserved('a1', 'guide'), reserved('a1', 'guide-2')], 'a1', 'guide')).toBe('guide'));
  it('is the newest of the numbered ones that the agent has', () =>
    expect(slugOf([reserved('a1', 'guide-2'), reserved('a1', 'guide-3')], 'a1', 'guide')).toBe('guide-3'));
  it('is not another slug of the agent that only begins like the wanted one', () => {
    expect(slugOf([reserved('a1', 'guide-book')], 'a1', 'guide')).toBe('guide');
    expect(slugOf([reserved('a1', 'guides')], 'a1', 'guide')).toBe('guide');
  });
  it('is not another slug of the agent that only ends like the wanted one', () =>
    expect(slugOf([reserved('a1', 'other-2')], 'a1', 'guide')).toBe('guide'));
});

describe('a reservation', () => {
  it('reserves the slug for the agent', () =>
    given(agentSlugs, [reserved('a1', 'guide')])
      .when(reserve('alice', 'a2', 'guide'))
      .then([reserved('a2', 'guide-2')]));
  it('of a slug that the agent has appends no event', () =>
    given(agentSlugs, [reserved('a1', 'guide')])
      .when(reserve('alice', 'a1', 'guide'))
      .thenNothing());
});

describe('a release', () => {
  it('releases all slugs of the agent except the kept one, and none of others', () =>
    given(agentSlugs, [reserved('a1', 'guide'), reserved('a1', 'guide-3'), reserved('a2', 'guide-2')])
      .when(release('alice', 'a1', 'guide-3'))
      .then([released('a1', 'guide')]));
  it('releases all slugs of a deleted agent, and nothing when it is repeated', () => {
    const past = [reserved('a1', 'guide'), reserved('a1', 'guide-2')];
    const all = [released('a1', 'guide'), released('a1', 'guide-2')];
    given(agentSlugs, past)
      .when(release('alice', 'a1', undefined))
      .then(all);
    given(agentSlugs, [...past, ...all])
      .when(release('alice', 'a1', undefined))
      .thenNothing();
  });
});
