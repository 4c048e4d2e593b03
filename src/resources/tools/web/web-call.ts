import { parseBoundedJson } from '../../../kernel/bounded-json.js';
import {
  AddressRefused,
  OutgoingFailed,
  type OutgoingHttp,
  type OutgoingRequest,
  type OutgoingResponse,
} from '../../../platform/outgoing/outgoing-http.port.js';
import { ToolFailed } from '../toolbox/tool-kind.port.js';
import { textOf } from '../../../platform/outgoing/response-text.policy.js';
import { isJsonObject } from '../../json-object.policy.js';

const WEB_CALL_MS = 20_000;
export const WEB_ANSWER_BYTES_MAX = 2 * 1024 * 1024;

/** A request to a service. Failures show only the name of the service, because the URL may contain a token. */
export type Asked = Readonly<
  { service: string; url: URL; signal: AbortSignal } & Partial<Pick<OutgoingRequest, 'method' | 'headers' | 'body'>>
>;

/** The response of a service, of any status. @throws ToolFailed if there is none */
export async function ask(
  http: OutgoingHttp,
  { service, url, signal, method = 'GET', headers = {}, body }: Asked,
): Promise<OutgoingResponse> {
  try {
    return await http.request(url.href, {
      method,
      headers,
      ...(body !== undefined && { body }),
      signal,
      timeoutMs: WEB_CALL_MS,
      responseBytesMax: WEB_ANSWER_BYTES_MAX,
    });
  } catch (error) {
    if (error instanceof AddressRefused || error instanceof OutgoingFailed) {
      throw new ToolFailed(`${service} could not be asked: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

/** The JSON object in a response. @throws ToolFailed for a status of 300 or more, or another content */
export async function askForJson(http: OutgoingHttp, asked: Asked): Promise<Json> {
  const response = await ask(http, { ...asked, headers: { accept: 'application/json', ...asked.headers } });
  if (response.status >= 300) throw failedStatus(asked.service, response);
  const value = parsed(response);
  if (value === undefined) throw new ToolFailed(`${asked.service} gave an answer that cannot be read.`);
  return value;
}

export type Json = Readonly<Record<string, unknown>>;

/** The JSON object in a response; undefined if the response holds none within the limits of JSON. */
export function parsed(response: OutgoingResponse): Json | undefined {
  try {
    const value = parseBoundedJson(textOf(response), 'The answer');
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export const failedStatus = (service: string, { status }: OutgoingResponse): ToolFailed =>
  new ToolFailed(`${service} answered with HTTP status ${status}${REASONS[status] ?? '.'}`);

const REASONS: Readonly<Record<number, string>> = {
  401: ': its token is missing or wrong.',
  403: ': its token is missing, wrong or not allowed to do this.',
  404: ': it does not exist.',
  429: ': it has been asked too often. Try again later.',
};

/** The objects of a list within a response; empty if there is no list. */
export function recordsIn(value: unknown, ...path: readonly string[]): readonly Json[] {
  const found = path.reduce<unknown>((current, name) => (isJsonObject(current) ? current[name] : undefined), value);
  return Array.isArray(found) ? found.filter(isJsonObject) : [];
}

/** A URL with a query. Undefined parameters are left out. */
export function addressOf(base: string, path: string, query: Readonly<Record<string, string | number | undefined>> = {}): URL {
  const url = new URL(`${base}${path}`);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  return url;
}
