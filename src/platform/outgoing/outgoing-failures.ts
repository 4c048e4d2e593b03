import { AddressRefused, OutgoingFailed } from './outgoing-http.port.js';

const CAUSES_MAX = 5;

const BY_CODE: Readonly<Record<string, string>> = {
  EAI_AGAIN: 'cannot be found right now',
  ECONNREFUSED: 'refuses connections',
  ECONNRESET: 'broke the connection off',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  ENOTFOUND: 'cannot be found',
  EPIPE: 'broke the connection off',
  ETIMEDOUT: 'cannot be reached in time',
  UND_ERR_CONNECT_TIMEOUT: 'cannot be reached in time',
  UND_ERR_HEADERS_OVERFLOW: 'answers with too many headers',
  UND_ERR_SOCKET: 'broke the connection off',
};

/** The error of a request. It names only the host, because paths and headers may be secrets. */
export function outgoingFailure(error: unknown, host: string): Error {
  const known = causesOf(error).find((cause) => cause instanceof AddressRefused || cause instanceof OutgoingFailed);
  if (known) return known;
  return new OutgoingFailed(`${host} ${reasonOf(error)}.`, { cause: error });
}

function reasonOf(error: unknown): string {
  const codes = causesOf(error).map((cause) => String((cause as { code?: unknown }).code));
  const known = codes.map((code) => BY_CODE[code]).find((reason) => reason !== undefined);
  if (known !== undefined) return known;
  if (codes.some((code) => /CERT|SELF_SIGNED|TLS|SSL/.test(code))) return 'has no certificate that can be trusted';
  return 'does not answer as a server of HTTP should';
}

/** An error and its causes. Of several failed addresses, the first counts. */
function causesOf(error: unknown): readonly object[] {
  const causes: object[] = [];
  let cause = error;
  while (typeof cause === 'object' && cause !== null && causes.length < CAUSES_MAX) {
    causes.push(cause);
    cause = (cause as { cause?: unknown }).cause ?? (cause as { errors?: unknown[] }).errors?.[0];
  }
  return causes;
}
