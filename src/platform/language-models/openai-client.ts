import OpenAI from 'openai';
import { Agent, fetch } from 'undici';

export type OpenAiEndpoint = Readonly<{
  /** Without it OpenAI's own. */
  baseUrl?: string;
  /** Endpoints on one's own machine ask for none. */
  apiKey?: string;
  /** Until a TCP connection stands. */
  connectMs?: number;
}>;

export const CONNECT_TIMEOUT_MS = 10_000;
/** Longer than any of the time-outs that are watched here, so that the client never gives up first. */
const CLIENT_TIMEOUT_MS = 3_600_000;

/** A client that neither repeats requests nor times them out: whoever asks knows better when. */
export function openAiClient({ baseUrl, apiKey, connectMs = CONNECT_TIMEOUT_MS }: OpenAiEndpoint): OpenAI {
  const dispatcher = new Agent({ connect: { timeout: connectMs }, headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 30_000 });
  return new OpenAI({
    baseURL: baseUrl ?? 'https://api.openai.com/v1',
    apiKey: apiKey ?? 'none',
    organization: null,
    project: null,
    maxRetries: 0,
    timeout: CLIENT_TIMEOUT_MS,
    logLevel: 'off',
    fetch: ((input: string, init: object) => fetch(input, { ...init, dispatcher })) as unknown as typeof globalThis.fetch,
  });
}
