import { HttpException } from '@nestjs/common';
import { AppendTooLarge, StoreUnavailable, StreamGone, WrongRevision } from '../../kernel/event-sourcing/event-store.js';
import { BlobsUnavailable } from '../../kernel/blobs.js';
import { isDiskFull } from '../../kernel/full-disk.js';
import { KeyValueUnavailable } from '../../kernel/key-value.js';
import { Rejection } from '../../kernel/rejection.js';
import { ModelFailed } from '../../resources/models/model/language-model.port.js';
import { WorkQueueUnavailable } from '../../kernel/work-queue.js';

/** How a refusal is told: `code` is what the body carries, if it carries one. */
export type Rendering = Readonly<{
  status: number;
  code?: string;
  retryAfterSeconds?: number;
  /** About the request rather than about what it asks for: JSON also where a stream was asked for. */
  json?: true;
  /** The same body on every route, as clients expect of a bad token and of a limit. */
  uniform?: true;
}>;

/** THE table: every code a Rejection may have, in the order of their statuses. */
export const rejections: Readonly<Record<string, Rendering>> = {
  'invalid-request': { status: 400, json: true },
  'answer-failed': { status: 400 },
  'attachments-not-accepted': { status: 400 },
  'document-unreadable': { status: 400 },
  'document-too-slow': { status: 400 },
  'index-out-of-range': { status: 400, json: true },
  'invalid-agent-config': { status: 400 },
  'agent-not-publishable': { status: 400 },
  'image-not-accepted': { status: 400 },
  'invalid-json-schema': { status: 400 },
  'prompt-not-renderable': { status: 400 },
  'token-generation-not-allowed': { status: 400 },
  'tool-call-refused': { status: 400 },
  'tool-invalid': { status: 400 },
  'tool-not-editable': { status: 400 },
  'tool-server-refused': { status: 400 },
  'tool-server-unreachable': { status: 400, code: 'tool_server_unreachable' },
  'source-not-remote': { status: 400 },
  'pages-not-fetched': { status: 400 },
  'oauth-not-granted': { status: 400, code: 'oauth_not_granted' },
  'oauth-state-expired': { status: 400 },
  'oauth-state-used': { status: 400 },
  'too-many-tools': { status: 400 },
  'invalid-schedule': { status: 400 },
  'monitor-refused': { status: 400 },

  unauthenticated: { status: 401 },
  'unknown-agent-key': { status: 401 },
  'invalid-token': { status: 401, code: 'invalid_token', json: true, uniform: true },
  'token-expired': { status: 401, code: 'token_expired', json: true, uniform: true },

  forbidden: { status: 403 },
  'not-available-to-tokens': { status: 403, code: 'not_available_to_tokens' },
  'origin-not-allowed': { status: 403, code: 'origin_not_allowed' },

  'not-found': { status: 404 },
  'agent-not-found': { status: 404 },
  'artifact-not-found': { status: 404 },
  'attachment-not-found': { status: 404 },
  'conversation-not-found': { status: 404 },
  'message-not-found': { status: 404 },
  'folder-not-found': { status: 404 },
  'prompt-not-accessible': { status: 404 },
  'prompt-not-found': { status: 404 },
  'source-not-accessible': { status: 404 },
  'source-not-found': { status: 404 },
  'task-not-found': { status: 404 },
  'task-unknown': { status: 404 },
  'run-unknown': { status: 404 },
  'oauth-handshake-not-found': { status: 404 },
  'tool-not-accessible': { status: 404 },
  'tool-not-found': { status: 404 },
  'workflow-not-found': { status: 404 },
  'schedule-not-found': { status: 404 },
  'schedule-run-not-found': { status: 404 },
  'monitor-not-found': { status: 404 },
  'job-not-found': { status: 404 },

  'attachment-failed': { status: 409, code: 'attachment_failed' },
  'attachment-not-ready': { status: 409, code: 'attachment_not_ready' },
  'agent-not-published': { status: 409, code: 'agent_not_published' },
  'agent-stale-write': { status: 409, code: 'stale_write' },
  'prompt-stale-write': { status: 409, code: 'stale_write' },
  'message-not-running': { status: 409, code: 'message_not_running' },
  'turn-taken': { status: 409, code: 'turn_taken' },
  'turn-stopping': { status: 409, code: 'turn_stopping' },
  'resume-in-progress': { status: 409, code: 'resume_in_progress' },
  'ingest-superseded': { status: 409, code: 'ingest_superseded' },
  'tool-changed-meanwhile': { status: 409, code: 'conflict' },
  'task-over': { status: 409, code: 'task_over' },
  'task-not-due': { status: 409, code: 'task_not_due' },
  'task-attempt-superseded': { status: 409, code: 'task_attempt_superseded' },
  'run-failed': { status: 409, code: 'run_failed' },
  'run-timed-out': { status: 409, code: 'run_timed_out' },
  'run-over': { status: 409, code: 'run_over' },
  'run-attempt-superseded': { status: 409, code: 'run_attempt_superseded' },
  'job-exists': { status: 409, code: 'job_exists' },
  'tool-call-not-pending': { status: 409, code: 'tool_call_not_pending' },
  'schedule-cancelled': { status: 409, code: 'schedule_cancelled' },
  'schedule-elapsed': { status: 409, code: 'schedule_elapsed' },
  'schedule-run-in-flight': { status: 409, code: 'run_in_flight' },
  'schedule-run-started': { status: 409, code: 'run_started' },
  'schedule-terminal': { status: 409, code: 'schedule_terminal' },
  'monitor-over': { status: 409 },

  'journal-expired': { status: 410, code: 'journal_expired' },

  'too-large': { status: 413 },
  'attachments-too-large': { status: 413 },
  'tool-too-large': { status: 413 },
  'document-too-large': { status: 413 },
  'document-type-not-accepted': { status: 415 },
  'media-type-not-accepted': { status: 415 },
  'idempotency-key-reused': { status: 422, code: 'idempotency_key_reused' },

  'usage-limit': { status: 429, retryAfterSeconds: 60, json: true, uniform: true },
  'quota-exceeded': { status: 429, retryAfterSeconds: 60, json: true, uniform: true },
  'too-many-event-streams': { status: 429, code: 'too_many_connections', retryAfterSeconds: 5, json: true },
  'replay-budget-exhausted': { status: 429, code: 'replay_budget_exhausted', retryAfterSeconds: 60, json: true },
  'too-many-schedules': { status: 429, retryAfterSeconds: 60 },
  'too-many-monitors': { status: 429, retryAfterSeconds: 60 },
  'too-many-wrong-credentials': {
    status: 429,
    code: 'too_many_wrong_credentials',
    retryAfterSeconds: 60,
    json: true,
    uniform: true,
  },
  'too-many-requests': { status: 429, code: 'too_many_requests', retryAfterSeconds: 60, json: true },

  'search-failed': { status: 500 },

  'schedule-catching-up': { status: 503, retryAfterSeconds: 2 },
  unavailable: { status: 503, code: 'unavailable', retryAfterSeconds: 2 },
  'disk-full': { status: 503, code: 'disk_full', retryAfterSeconds: 10 },
  'shutting-down': { status: 503, code: 'shutting_down', retryAfterSeconds: 1 },
};

/** A refusal or a failure, ready to be rendered. `unexpected` ones are logged with their cause. */
export type Failure = Rendering & Readonly<{ message: string; details?: Readonly<Record<string, unknown>>; unexpected?: true }>;

const LOST_RACES = 'Too much is changed here at once. Please try again.';
const DEPENDENCY_DOWN = 'A part of the service does not answer right now. Please try again.';

/** Nothing is lost by it: what was refused was not done, and is done when it is asked for again once there is space. */
export const DISK_FULL: Failure = {
  ...rejections['disk-full']!,
  message: 'The service has no space left to store anything. Please try again later.',
  unexpected: true,
};

/** What the client is told about anything that was thrown. `isDownForSpace`: whether a full disk is known to keep a dependency down. */
export function failureOf(thrown: unknown, requestId: string, isDownForSpace = () => false): Failure {
  if (thrown instanceof Rejection) {
    const { code, message, details, retryAfterSeconds } = thrown;
    const known = rejections[code] ?? { status: 400 };
    return { ...known, message, ...(details && { details }), ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  }
  // The request is as good as those that were faster: there is nothing in it to put right.
  if (thrown instanceof WrongRevision) return { ...rejections.unavailable!, message: LOST_RACES, unexpected: true };
  if (thrown instanceof StreamGone) return { ...rejections['not-found']!, message: 'Not found' };
  if (thrown instanceof AppendTooLarge) return { ...rejections['too-large']!, message: 'The request is too large to be kept.' };
  if (isDiskFull(thrown)) return DISK_FULL;
  // Before an answer begins a model is asked only whether it is there.
  if (thrown instanceof ModelFailed) return { ...rejections.unavailable!, message: thrown.message, unexpected: true };
  if (isDependencyDown(thrown))
    return isDownForSpace() ? DISK_FULL : { ...rejections.unavailable!, message: DEPENDENCY_DOWN, unexpected: true };
  const status = clientStatusOf(thrown);
  if (status !== undefined) return { status, message: textOf(thrown), ...(status === 400 && { json: true }) };
  return {
    status: 500,
    code: 'internal_error',
    message: `Something went wrong. The id of this request is ${requestId}.`,
    unexpected: true,
  };
}

const UNAVAILABLE = [StoreUnavailable, KeyValueUnavailable, WorkQueueUnavailable, BlobsUnavailable] as const;

/** As the system, the network, postgres.js and Postgres itself (classes 08, 53 and 57P) say that a file or connection is not to be had. */
const CONNECTION_LOST =
  /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|E[MN]FILE|CONNECT(ION_(CLOSED|ENDED|DESTROYED)|_TIMEOUT)|08\w{3}|53\w{3}|57P0[1-3])$/;

const CAUSES_MAX = 5;

function isDependencyDown(thrown: unknown): boolean {
  for (let error = thrown, depth = 0; error instanceof Error && depth < CAUSES_MAX; error = error.cause, depth++) {
    if (UNAVAILABLE.some((type) => error instanceof type)) return true;
    if (CONNECTION_LOST.test(String((error as { code?: unknown }).code))) return true;
  }
  return false;
}

/** The status of an error that says itself it is the client's fault, as Nest's and Fastify's do. */
function clientStatusOf(thrown: unknown): number | undefined {
  const status = thrown instanceof HttpException ? thrown.getStatus() : (thrown as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined;
}

function textOf(thrown: unknown): string {
  const response = thrown instanceof HttpException ? thrown.getResponse() : undefined;
  const message = typeof response === 'object' && 'message' in response ? response.message : (thrown as Error).message;
  return Array.isArray(message) ? message.join(' ') : String(message);
}
