import OpenAI from 'openai';
import { Agent, interceptors } from 'undici';
import { fetchStreamed, streamed } from './streamed-response.js';

export type OpenAiEndpoint = Readonly<{
  /** Without it OpenAI's own. */
  baseUrl?: string;
  /** Endpoints on one's own machine ask for none. */
  apiKey?: string;
  /** Until a TCP connection stands. */
  connectMs?: number;
  /** The way out for an endpoint that a user names; without it the endpoint is trusted. */
  fetch?: typeof globalThis.fetch;
}>;

const CONNECT_TIMEOUT_MS = 10_000;
/** Longer than any of the time-outs that are watched here, so that the client never gives up first. */
const CLIENT_TIMEOUT_MS = 3_600_000;

const REDIRECTIONS_MAX = 5;

/** A client that neither repeats requests nor times them out: the caller knows better when. */
export function openAiClient({ baseUrl, apiKey, connectMs, fetch }: OpenAiEndpoint): OpenAI {
  return new OpenAI({
    baseURL: baseUrl ?? 'https://api.openai.com/v1',
    apiKey: apiKey ?? 'none',
    organization: null,
    project: null,
    maxRetries: 0,
    timeout: CLIENT_TIMEOUT_MS,
    logLevel: 'off',
    fetch: fetch ? withoutRedirects(fetch) : trusted(connectMs),
  });
}

/** Straight to an endpoint of the operator. */
function trusted(connectMs = CONNECT_TIMEOUT_MS): typeof globalThis.fetch {
  const agent = new Agent({ connect: { timeout: connectMs }, headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 30_000 });
  const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: REDIRECTIONS_MAX }));
  return ((url: string, init: object) => fetchStreamed(dispatcher, url, init)) as unknown as typeof globalThis.fetch;
}

/** A key goes to the server that a user named, and nowhere else. */
const withoutRedirects =
  (fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
  async (url, init) =>
    streamed(await fetch(url, { ...init, redirect: 'error' }), init);
