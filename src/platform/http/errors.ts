import { HttpException } from '@nestjs/common';
import { AppendTooLarge, StreamGone, WrongRevision } from '../../kernel/event-sourcing/event-store.js';
import { isDiskFull } from '../../kernel/full-disk.js';
import { Rejection, Unavailable } from '../../kernel/rejection.js';
import { isOutage } from '../supervision/outage.js';
import { COMMON_REJECTIONS as COMMON, type Rejections, type Rendering } from './rejections.js';

/** An error for a client. An `unexpected` one is logged with its cause. */
export type Failure = Rendering & Readonly<{ message: string; details?: Readonly<Record<string, unknown>>; unexpected?: true }>;

const LOST_RACES = 'Too much is changed here at once. Please try again.';
const DEPENDENCY_DOWN = 'A part of the service does not answer right now. Please try again.';

/** For ids, names and searches. In texts that are only stored, the character is escaped. */
const UNSTORABLE_TEXT = 'An id, a name or a search in the request holds a character that is not allowed: NUL.';

/** The request changed nothing. A retry succeeds once there is space. */
const DISK_FULL: Failure = {
  ...COMMON['disk-full'],
  message: 'The service has no space left to store anything. Please try again later.',
  unexpected: true,
};

/**
 * Maps anything thrown to an error for the client. `rejections` are the codes of the rooms. `isDownForSpace` tells whether a full
 * disk keeps a dependency down.
 */
export function failureOf(
  thrown: unknown,
  requestId: string,
  rejections: Rejections = COMMON,
  isDownForSpace = () => false,
): Failure {
  if (thrown instanceof Rejection) {
    const { code, message, details, retryAfterSeconds } = thrown;
    const known = rejections[code] ?? { status: 400 };
    return { ...known, message, ...(details && { details }), ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
  }
  // The request was valid but lost all races, so the client cannot correct anything.
  if (thrown instanceof WrongRevision) return { ...COMMON.unavailable, message: LOST_RACES, unexpected: true };
  if (thrown instanceof StreamGone) return { ...COMMON['not-found'], message: 'Not found' };
  if (thrown instanceof AppendTooLarge) return { ...COMMON['too-large'], message: 'The request is too large to be kept.' };
  if (isUnstorableText(thrown)) return { ...COMMON['invalid-request'], message: UNSTORABLE_TEXT };
  if (isDiskFull(thrown)) return DISK_FULL;
  if (thrown instanceof Unavailable) return { ...COMMON.unavailable, message: thrown.message, unexpected: true };
  if (isDependencyDown(thrown))
    return isDownForSpace() ? DISK_FULL : { ...COMMON.unavailable, message: DEPENDENCY_DOWN, unexpected: true };
  const status = clientStatusOf(thrown);
  if (status !== undefined) return { status, message: textOf(thrown), ...(status === 400 && { json: true }) };
  return {
    status: 500,
    code: 'internal_error',
    message: `Something went wrong. The id of this request is ${requestId}.`,
    unexpected: true,
  };
}

/** No file descriptor is left. */
const TOO_MANY_FILES = /^E[MN]FILE$/;

/** A table, column or schema is missing, as in a read model that another version has filled and that has to be rebuilt. */
const NOT_REBUILT = /^(42P01|42703|3F000)$/;

/** Whether Postgres refused a text that contains NUL. */
const isUnstorableText = (thrown: unknown): boolean => (thrown as { code?: unknown } | null)?.code === '22021';

const CAUSES_MAX = 5;

function isDependencyDown(thrown: unknown): boolean {
  if (isOutage(thrown)) return true;
  for (let error = thrown, depth = 0; error instanceof Error && depth < CAUSES_MAX; error = error.cause, depth++) {
    const code = String((error as { code?: unknown }).code);
    if (TOO_MANY_FILES.test(code) || NOT_REBUILT.test(code)) return true;
  }
  return false;
}

/** The 4xx status of an error of Nest or Fastify. */
function clientStatusOf(thrown: unknown): number | undefined {
  const status = thrown instanceof HttpException ? thrown.getStatus() : (thrown as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined;
}

function textOf(thrown: unknown): string {
  const response = thrown instanceof HttpException ? thrown.getResponse() : undefined;
  const message = typeof response === 'object' && 'message' in response ? response.message : (thrown as Error).message;
  return Array.isArray(message) ? message.join(' ') : String(message);
}
