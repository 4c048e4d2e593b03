import type { OutgoingResponse } from '../../../platform/outgoing/outgoing-http.port.js';
import { isJson, isText, textOf } from '../../../platform/outgoing/response-text.policy.js';
import { parseExactJson } from '../../exact-json.policy.js';
import type { Secrets } from './api-secrets.policy.js';

/** The result of a call for the model. A status of 400 or more makes it an error. */
export type ApiAnswer = Readonly<{ status_code: number; data: unknown; message: string; error?: string }>;

/** A shorter secret is not replaced, because it may occur in ordinary text. */
const RECOGNIZED_SECRET_CHARACTERS_MIN = 6;

export function apiAnswer(response: OutgoingResponse, secrets: Secrets): ApiAnswer {
  const { status, truncated, body } = response;
  const cut = truncated ? ` The answer was cut after ${body.byteLength} bytes.` : '';
  const told = {
    status_code: status,
    data: dataOf(response, secrets),
    message: `The server answered with HTTP status ${status}.${cut}`,
  };
  return status >= 400 ? { ...told, error: `The request failed with HTTP status ${status}.` } : told;
}

function dataOf(response: OutgoingResponse, secrets: Secrets): unknown {
  if (response.body.byteLength === 0) return null;
  if (!isText(response)) {
    const type = response.headers['content-type']?.split(';', 1)[0] ?? 'unknown';
    return `Not text: ${response.body.byteLength} bytes of type ${type}.`;
  }
  const text = withoutSecrets(textOf(response), secrets);
  if (response.truncated || (!isJson(response) && !/^\s*[[{]/.test(text))) return text;
  try {
    // Beyond the limits the text is passed on, because the structure would take much longer to handle.
    return parseExactJson(text, 'The answer');
  } catch {
    return text;
  }
}

/** Replaces the secrets in a text. Servers often repeat parts of the request, above all in errors. */
function withoutSecrets(text: string, secrets: Secrets): string {
  const values = Object.values(secrets)
    // A server may repeat a token without the scheme before it, as in "Bearer x".
    .flatMap((secret) => [secret, secret.split(' ').at(-1)!])
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .filter((secret) => secret.length >= RECOGNIZED_SECRET_CHARACTERS_MIN);
  return [...new Set(values)]
    .sort((one, other) => other.length - one.length)
    .reduce((cleaned, secret) => cleaned.replaceAll(secret, '[secret]'), text);
}
