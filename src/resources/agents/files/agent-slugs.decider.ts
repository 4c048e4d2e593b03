import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import type { AgentId } from '../agent.events.js';
import { agentSlugsCodec } from './agent-slugs.codec.js';
import type { AgentSlugsEvent } from './agent-slugs.events.js';
import { freeSlug } from './slug.policy.js';

/** Maps each slug to the agent of the user that holds it. While its slug changes, an agent holds two. */
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

/** Whether a slug is the wanted one, or the wanted one with a number appended. */
const isAs = (slug: string, wanted: string): boolean =>
  slug === wanted || (slug.startsWith(wanted) && NUMBER.test(slug.slice(wanted.length)));

/** The slug that an agent holds already for the wanted one, otherwise the first free one. */
export function slugFor({ holders }: AgentSlugs, agentId: AgentId, wanted: string): string {
  const own = [...holders].filter(([slug, holder]) => holder === agentId && isAs(slug, wanted)).map(([slug]) => slug);
  return own.includes(wanted) ? wanted : (own.at(-1) ?? freeSlug(wanted, (slug) => holders.has(slug)));
}

/** Reserves the wanted slug for the agent, or the first free one with a number appended. */
export const reserve =
  (ownerId: string, agentId: AgentId, wanted: string): Decide =>
  (state) => {
    const slug = slugFor(state, agentId, wanted);
    return state.holders.get(slug) === agentId ? [] : [{ type: 'AgentSlugReserved', data: { ownerId, agentId, slug } }];
  };

/** Releases all slugs of an agent except `kept`. */
export const release =
  (ownerId: string, agentId: AgentId, kept: string | undefined): Decide =>
  ({ holders }) =>
    [...holders]
      .filter(([slug, holder]) => holder === agentId && slug !== kept)
      .map(([slug]) => ({ type: 'AgentSlugReleased', data: { ownerId, agentId, slug } }));
