/** The schemas of the bodies of `/api/health` and `/api/ready` for the API reference. */
const text = { type: 'string' } as const;
const number = { type: 'number' } as const;
const flag = { type: 'boolean' } as const;

export const HEALTH = { type: 'object', required: ['status'], properties: { status: { type: 'string', enum: ['ok'] } } };

const DEPENDENCY = {
  type: 'object',
  required: ['ok', 'ms'],
  properties: { ok: flag, ms: { ...number, description: 'How long it took to answer' }, error: text },
};

const FOLLOWER = {
  type: 'object',
  required: ['ok', 'position', 'behind', 'parked', 'held', 'seconds_behind'],
  properties: {
    ok: { ...flag, description: 'Whether what it wrote can be used' },
    position: { ...text, nullable: true, description: 'How far it has followed the log; opaque' },
    behind: { ...text, nullable: true, description: 'How much of the log lies before it, in positions' },
    seconds_behind: { ...number, nullable: true },
    parked: { ...number, description: 'Entities or events that were set aside' },
    held: { ...number, description: 'Events that wait with what was set aside' },
    error: { ...text, description: 'Why it does not get on' },
  },
};

const byName = (schema: object, description: string) => ({ type: 'object', additionalProperties: schema, description });

export const READINESS = {
  type: 'object',
  required: ['status', 'reasons', 'dependencies', 'projections', 'reactions'],
  properties: {
    status: { type: 'string', enum: ['ready', 'degraded', 'not_ready'] },
    reasons: { type: 'array', items: text, description: 'What keeps it from being ready, the worst first; empty when it is' },
    dependencies: byName(DEPENDENCY, 'What the process rests on'),
    projections: byName(FOLLOWER, 'Those that write the read models, in whatever process'),
    reactions: byName(FOLLOWER, 'Those that act on events, in whatever process'),
  },
};
