import type { KeptAgentQueries } from '../../projections/agents/kept-agents.queries.js';
import type { TeamQueries } from '../../projections/teams/teams.queries.js';
import { SharedUse } from '../../src/dialogue/answering/runner/shared-use.js';
import { Reaching } from '../../src/resources/identity/reaching.js';

/** All users reach their own resources, and may use those with the given ids. */
export const granting = (ids: ReadonlySet<string>): Reaching =>
  new Reaching(
    {
      heldBy: async () => new Map([...ids].map((id) => [id, { level: 'viewer', switches: {} }])),
    } as unknown as TeamQueries,
    { keptAmong: async () => [] } as unknown as KeptAgentQueries,
  );

/** No team holds a grant. */
export const NO_GRANTS = granting(new Set());

export const NOTHING_SHARED = new SharedUse(NO_GRANTS);
