import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import type { AgentId } from '../agent.events.js';
import { agentSlugsCodec } from './agent-slugs.codec.js';
import type { AgentSlugsEvent } from './agent-slugs.events.js';
import { freeSlug } from './slug.policy.js';

/** Which agent of a user has which slug. For a moment, while its slug changes, an agent has two. */
export type AgentSlugs = Readonly<{ holders: ReadonlyMap<string, AgentId> }>;

export const agentSlugs: Aggregate<AgentSlugs, AgentSlugsEvent> = {
  initial: { holders: new Map() },
  evolve: ({ holders }, { type, data: { slug, agentId } }) => {
    const others = [...holders].filter(([each]) => each !== slug);
    return { holders: new Map(type === 'AgentSlugReserved' ? [...others, [slug, agentId]] : others) };
  },
  codec: agentSlugsCodec,
};

type Decide = Decision<AgentSlugs, AgentSlugsEvent>;

const NUMBER = /^-\d+$/;

/** Whether a slug is the wanted one, or that one with a number behind it. */
const isAs = (slug: string, wanted: string): boolean =>
  slug === wanted || (slug.startsWith(wanted) && NUMBER.test(slug.slice(wanted.length)));

/** The slug that an agent gets, or has already, where it wants one. */
export function slugFor({ holders }: AgentSlugs, agentId: AgentId, wanted: string): string {
  const own = [...holders].filter(([slug, holder]) => holder === agentId && isAs(slug, wanted)).map(([slug]) => slug);
  return own.includes(wanted) ? wanted : (own.at(-1) ?? freeSlug(wanted, (slug) => holders.has(slug)));
}

/** An agent gets the slug that it wants, or the first free one with a number behind it. */
export const reserve =
  (ownerId: string, agentId: AgentId, wanted: string): Decide =>
  (state) => {
    const slug = slugFor(state, agentId, wanted);
    return state.holders.get(slug) === agentId ? [] : [{ type: 'AgentSlugReserved', data: { ownerId, agentId, slug } }];
  };

/** What an agent has beside the slug that it goes by is free again. */
export const release =
  (ownerId: string, agentId: AgentId, kept: string | undefined): Decide =>
  ({ holders }) =>
    [...holders]
      .filter(([slug, holder]) => holder === agentId && slug !== kept)
      .map(([slug]) => ({ type: 'AgentSlugReleased', data: { ownerId, agentId, slug } }));
