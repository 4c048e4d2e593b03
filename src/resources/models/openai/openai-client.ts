import OpenAI, { type APIError } from 'openai';
import { Agent, interceptors } from 'undici';
import { fetchStreamed, streamed } from './streamed-response.js';

export type OpenAiEndpoint = Readonly<{
  /** Default: OpenAI's own endpoint. */
  baseUrl?: string;
  /** Local endpoints need none. */
  apiKey?: string;
  /** Maximum time to establish a TCP connection. */
  connectMs?: number;
  /** The guarded fetch for an endpoint that a user configured. Without it the endpoint is trusted. */
  fetch?: typeof globalThis.fetch;
}>;

const CONNECT_TIMEOUT_MS = 10_000;
/** Longer than every timeout of the callers, so that the client never times out first. */
const CLIENT_TIMEOUT_MS = 3_600_000;

const REDIRECTIONS_MAX = 5;

/** Reads errors of endpoints that put them into the body itself, or into a list, instead of its field `error`. */
class Client extends OpenAI {
  protected override makeStatusError(status: number, body: object, message: string | undefined, headers: Headers): APIError {
    const [stated] = [body].flat() as Readonly<{ error?: unknown } | undefined>[];
    return super.makeStatusError(status, { error: stated?.error ?? stated }, message, headers);
  }
}

/** A client that neither retries nor times out requests, because its callers do that. */
export function openAiClient({ baseUrl, apiKey, connectMs, fetch }: OpenAiEndpoint): OpenAI {
  return new Client({
    baseURL: baseUrl ?? 'https://api.openai.com/v1',
    apiKey: apiKey ?? 'none',
    organization: null,
    project: null,
    maxRetries: 0,
    timeout: CLIENT_TIMEOUT_MS,
    logLevel: 'off',
    fetch: wellFormed(fetch ? withoutRedirects(fetch) : trusted(connectMs)),
  });
}

/** How JSON writes half of a surrogate pair without its other half. It writes whole pairs as they are. */
const HALF_OF_PAIR = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/**
 * Replaces halves of surrogate pairs. Endpoints refuse the whole request because of one, and a question stays in all later requests
 * of its conversation.
 */
const wellFormed =
  (fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
  (url, init) =>
    typeof init?.body === 'string' && init.body.includes('\\ud')
      ? fetch(url, { ...init, body: init.body.replace(HALF_OF_PAIR, '$1\ufffd') })
      : fetch(url, init);

/** A fetch for endpoints of the operator, without the guard of outgoing requests. */
function trusted(connectMs = CONNECT_TIMEOUT_MS): typeof globalThis.fetch {
  const agent = new Agent({ connect: { timeout: connectMs }, headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 30_000 });
  const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: REDIRECTIONS_MAX }));
  return ((url: string, init: object) => fetchStreamed(dispatcher, url, init)) as unknown as typeof globalThis.fetch;
}

/** The key is sent only to the server that the user configured, so redirects are errors. */
const withoutRedirects =
  (fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
  async (url, init) =>
    streamed(await fetch(url, { ...init, redirect: 'error' }), init);
