import type { KeptAgentQueries } from '../../projections/agents/kept-agents.queries.js';
import type { TeamQueries } from '../../projections/teams/teams.queries.js';
import { SharedUse } from '../../src/dialogue/answering/runner/shared-use.js';
import { Reaching } from '../../src/resources/identity/reaching.js';

/** Everybody reaches what is their own, and nothing else: no team holds a grant. */
export const NO_GRANTS = new Reaching(
  { heldBy: async () => new Map() } as unknown as TeamQueries,
  { keptAmong: async () => [] } as unknown as KeptAgentQueries,
);

export const NOTHING_SHARED = new SharedUse(NO_GRANTS);
