/** How a refusal is told: `code` is what the body carries, if it carries one. */
export type Rendering = Readonly<{
  status: number;
  code?: string;
  retryAfterSeconds?: number;
  /** About the request rather than about what it asks for: JSON also where a stream was asked for. */
  json?: true;
}>;

/** How the refusals of a room are told, by the codes of their `Rejection`s. */
export type Rejections = Readonly<Record<string, Rendering>>;

/** The refusals that every room may make. */
export const COMMON_REJECTIONS = {
  'invalid-request': { status: 400, json: true },
  unauthenticated: { status: 401 },
  'not-found': { status: 404 },
  'too-large': { status: 413 },
  'media-type-not-accepted': { status: 415 },
  'idempotency-key-reused': { status: 422, code: 'idempotency_key_reused' },
  'too-many-requests': { status: 429, code: 'too_many_requests', retryAfterSeconds: 60, json: true },
  unavailable: { status: 503, code: 'unavailable', retryAfterSeconds: 2 },
  'disk-full': { status: 503, code: 'disk_full', retryAfterSeconds: 10 },
  'shutting-down': { status: 503, code: 'shutting_down', retryAfterSeconds: 1 },
} as const satisfies Rejections;
