import { APIConnectionError, APIError } from 'openai';
import { FrameTooLong } from './event-stream-reader.js';
import { AnswerTooLong } from './streamed-response.js';
import { AddressRefused } from '../../../platform/outgoing/outgoing-http.port.js';
import { ModelFailed, type ModelFailure } from '../model/language-model.port.js';
import { cutText } from '../../../kernel/cut-text.js';

const VERDICTS = {
  unavailable: ['The language model cannot be reached right now. Please try again later.', true],
  'not-reachable': ['The address of this language model may not be reached from here.', false],
  'timed-out': ['The language model took too long. Please try again.', true],
  overloaded: ['The language model is busy right now. Please try again in a moment.', true],
  'not-authorised': ['The language model refused this service. Please tell whoever runs it.', false],
  'unknown-model': ['The language model is not available.', false],
  'context-too-long': ['The question, its documents and the conversation are too long for the language model.', false],
  refused: ['The language model refused to answer this.', false],
  'not-accepted': ['The language model did not accept the request.', false],
  'bad-reply': ['The language model gave an answer that could not be read. Please try again.', true],
} as const satisfies Readonly<Record<ModelFailure, readonly [string, boolean]>>;

export function modelFailed(failure: ModelFailure, cause?: unknown): ModelFailed {
  const [message, retriable] = VERDICTS[failure];
  return new ModelFailed(failure, message, retriable, { cause });
}

/** Translates an error of the client into the port's error. */
export function failureOf(error: unknown): ModelFailed {
  if (error instanceof ModelFailed) return error;
  if (hasCause(error, FrameTooLong) || hasCause(error, AnswerTooLong)) return modelFailed('bad-reply', error);
  // The guard of outgoing requests refused the address, which makes a retry useless.
  if (error instanceof APIConnectionError && hasCause(error, AddressRefused)) return modelFailed('not-reachable', error);
  if (error instanceof APIConnectionError || !(error instanceof APIError)) return modelFailed('unavailable', error);
  const { status, code, type, message } = error as APIError<number | undefined, Headers | undefined, object | undefined>;
  return modelFailed(kindOf(status, reasonIn(code, type, message)), error);
}

/** Whether the error or one of its causes is of a kind. */
function hasCause(error: unknown, kind: new (...of: never[]) => unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof kind) return true;
  return false;
}

/** Maximum characters of each text of an error that are searched. Endpoints state the reason first. Some patterns take quadratic time. */
export const REASON_CHARACTERS_MAX = 8_000;

/** The texts of an endpoint's error in which its reason is searched. Endpoints also put other values into these fields. */
export const reasonIn = (...stated: readonly unknown[]): string =>
  stated
    .map((each) => (typeof each === 'string' ? cutText(each, REASON_CHARACTERS_MAX) : typeof each === 'number' ? each : ''))
    .join(' ');

const TOO_LONG =
  /context.?(?:length|window|size)|maximum context|too (?:many tokens|long)|exceeds? the (?:model|available)|prompt is too/i;
const FILTERED = /content.?(?:filter|policy|management)|safety/i;
const NO_CREDIT = /insufficient_quota|billing|credit/i;

/** Classifies a failure by its status and `words`, the result of `reasonIn`. */
export function kindOf(status: number | undefined, words: string): ModelFailure {
  switch (status) {
    case 401:
    case 403:
    case 402:
      return 'not-authorised';
    case 404:
      return 'unknown-model';
    case 408:
    case 504:
      return 'timed-out';
    case 413:
      return 'context-too-long';
    case 429:
      return NO_CREDIT.test(words) ? 'not-authorised' : 'overloaded';
    case 503:
    case 529:
      return 'overloaded';
    default:
      if (TOO_LONG.test(words)) return 'context-too-long';
      if (FILTERED.test(words)) return 'refused';
      return status !== undefined && status < 500 ? 'not-accepted' : 'unavailable';
  }
}

const RETRY_AFTER_MS_MAX = 5_000;

/** The delay that the endpoint asks for in `Retry-After`, at most RETRY_AFTER_MS_MAX. */
export function retryAfterMs(error: ModelFailed): number | undefined {
  const header = error.cause instanceof APIError ? (error.cause.headers as Headers | undefined)?.get('retry-after') : undefined;
  const seconds = header ? Number(header) : NaN;
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1000, RETRY_AFTER_MS_MAX) : undefined;
}
