/** The schemas of the bodies of `/api/health` and `/api/ready` for the API reference. */
const text = { type: 'string' } as const;
const number = { type: 'number' } as const;
const flag = { type: 'boolean' } as const;

export const HEALTH = { type: 'object', required: ['status'], properties: { status: { type: 'string', enum: ['ok'] } } };

const DEPENDENCY = {
  type: 'object',
  required: ['ok', 'ms'],
  properties: { ok: flag, ms: { ...number, description: 'The response time in milliseconds' }, error: text },
};

const FOLLOWER = {
  type: 'object',
  required: ['ok', 'position', 'behind', 'parked', 'held', 'seconds_behind'],
  properties: {
    ok: { ...flag, description: 'Whether its results are usable' },
    position: { ...text, nullable: true, description: 'The last position of the log that it has processed; opaque' },
    behind: { ...text, nullable: true, description: 'The part of the log that it has not processed yet, in positions' },
    seconds_behind: { ...number, nullable: true },
    parked: { ...number, description: 'The number of entities of a projection, or events of a reaction, that failed' },
    held: { ...number, description: 'The number of later events that wait for them' },
    error: { ...text, description: 'Why it makes no progress' },
  },
};

const byName = (schema: object, description: string) => ({ type: 'object', additionalProperties: schema, description });

export const READINESS = {
  type: 'object',
  required: ['status', 'reasons', 'dependencies', 'projections', 'reactions'],
  properties: {
    status: { type: 'string', enum: ['ready', 'degraded', 'not_ready'] },
    reasons: {
      type: 'array',
      items: text,
      description: 'Why the process is degraded or not ready, the worst reason first; empty if it is ready',
    },
    dependencies: byName(DEPENDENCY, 'The dependencies of the process'),
    projections: byName(FOLLOWER, 'The writers of the read models, in any process'),
    reactions: byName(FOLLOWER, 'The reactions to events, in any process'),
  },
};
