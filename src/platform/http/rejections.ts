/** The HTTP rendering of a rejection. `code` is the code in the body, if the body has one. */
export type Rendering = Readonly<{
  status: number;
  code?: string;
  retryAfterSeconds?: number;
  /** The error concerns the request itself, so the body is JSON even if a stream was requested. */
  json?: true;
}>;

/** The renderings of a room's rejections, by code. */
export type Rejections = Readonly<Record<string, Rendering>>;

/** The rejections that every room may use. */
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
