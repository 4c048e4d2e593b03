import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client';
import { AddressRefused, OutgoingFailed } from '../../../platform/outgoing/outgoing-http.port.js';
import { cutText } from '../../../kernel/cut-text.js';

/** The response exceeds the maximum size. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

/** The response broke off, so it is unknown whether the server processed the request. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

/** The owner has to sign in to the server again. */
export class SignInNeeded extends Error {
  override readonly name = 'SignInNeeded';
}

/** No session can be opened, because the maximum number is in use. */
export class SessionsExhausted extends Error {
  override readonly name = 'SessionsExhausted';
}

const REASON_CHARACTERS_MAX = 500;
const CAUSES_MAX = 5;

function* chain(error: unknown): Generator<Error> {
  let cause = error;
  for (let depth = 0; depth < CAUSES_MAX && typeof cause === 'object' && cause !== null; depth++) {
    yield cause as Error;
    cause = (cause as Error).cause;
  }
}

/** The first error of this type among an error and its causes. */
const found = <T extends Error>(error: unknown, type: abstract new (...args: never[]) => T): T | undefined =>
  [...chain(error)].find((cause): cause is T => cause instanceof type);

/** Whether `fetch` failed. It throws a TypeError for all network errors. */
const isFetchFailure = (error: unknown): boolean =>
  [...chain(error)].some(({ name, message }) => name === 'TypeError' && /fetch/i.test(message));

const statusOf = (error: unknown): number | undefined => found(error, SdkHttpError)?.status;

/**
 * Whether the server has forgotten the session and has not processed the request. The protocol requires 404; some servers send
 * 400.
 */
export function isSessionGone(error: unknown): boolean {
  const http = found(error, SdkHttpError);
  return (
    http?.status === 404 || (http?.status === 400 && typeof http.data['text'] === 'string' && /session/i.test(http.data['text']))
  );
}

/** Whether it is unknown if the server processed the request. */
export function isConnectionLost(error: unknown): boolean {
  if (found(error, AddressRefused) || found(error, AnswerTooLarge)) return false;
  const status = statusOf(error);
  return (
    found(error, ConnectionLost) !== undefined ||
    found(error, OutgoingFailed) !== undefined ||
    isFetchFailure(error) ||
    status === 502 ||
    status === 503 ||
    status === 504 ||
    (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed)
  );
}

/** Whether only a new sign-in of the owner can help. */
export const isSignInNeeded = (error: unknown): boolean =>
  found(error, SignInNeeded) !== undefined || found(error, UnauthorizedError) !== undefined;

/** The reason of a failure, for the owner and for the model. It quotes the server only if the error answers the call. */
export function failureText(error: unknown): string {
  if (found(error, AddressRefused)) return 'The address of the tool server may not be reached from here.';
  if (found(error, AnswerTooLarge)) return 'The answer of the tool server is too large.';
  if (isSignInNeeded(error)) return 'The tool server asks for a new sign-in.';
  if (found(error, SessionsExhausted)) return 'Too many tool servers are in use right now.';
  const status = statusOf(error);
  if (status !== undefined) return textOfStatus(status);
  const protocol = found(error, ProtocolError);
  if (protocol) return `The tool server refused: ${cutText(protocol.message, REASON_CHARACTERS_MAX)}`;
  const sdk = found(error, SdkError);
  const isLate = sdk?.code === SdkErrorCode.RequestTimeout || [...chain(error)].some(({ name }) => name === 'TimeoutError');
  if (isLate) return 'The tool server did not answer in time.';
  if (sdk?.code === SdkErrorCode.ListPaginationExceeded) return 'The list of tools of the tool server does not end.';
  if (isConnectionLost(error)) return 'The tool server could not be reached, or the connection to it broke.';
  return 'The tool server does not speak the protocol as it should.';
}

function textOfStatus(status: number): string {
  if (status === 401 || status === 403) return `The tool server refused the credentials (${status}).`;
  if (status === 404 || status === 405) return `There is no tool server at this address (${status}).`;
  return `The tool server answered with status ${status}.`;
}

const OF_THE_SERVICE: readonly string[] = [
  'StoreUnavailable',
  'KeyValueUnavailable',
  'WrongRevision',
  'Undecodable',
  'PostgresError',
];

/** Whether this service failed rather than the tool server. */
export const isServiceFailure = (error: unknown): boolean => error instanceof Error && OF_THE_SERVICE.includes(error.name);
