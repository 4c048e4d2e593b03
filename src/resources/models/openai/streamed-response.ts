import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import type { ReadableStream } from 'node:stream/web';
import { type Dispatcher, request } from 'undici';

/** A response whose body is read from Node's stream. Reading each piece through a web stream costs twice as much. */
export class StreamedResponse extends Response {
  constructor(
    readonly pieces: Readable,
    init: ResponseInit,
  ) {
    super(null, init);
  }
}

/** Maximum bytes of an error that are read. Errors are parsed at once, and their reason is near the start. */
export const ERROR_BYTES_MAX = 64 * 1024;

/**
 * Maximum bytes of an answer of the operator's endpoint that is not streamed. The vectors of EMBEDDINGS_BATCH_MAX texts take up to
 * 25 MiB.
 */
export const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
}

/** The same pieces of an answer. @throws AnswerTooLong */
async function* bounded(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    if (bytes > ANSWER_BYTES_MAX) throw new AnswerTooLong(`An answer is longer than ${ANSWER_BYTES_MAX} bytes.`);
    yield piece;
  }
}

/**
 * The `fetch` for speech. It resolves when the whole answer has been read, because the client's timeout covers only the fetch. It
 * fails after ANSWER_BYTES_MAX bytes.
 */
export const fetchBounded: typeof globalThis.fetch = async (url, init) => {
  const response = await fetch(url, init);
  return response.body ? new Response(await buffer(bounded(response.body)), response) : response;
};

/** Converts a response that another fetch returned. */
export async function streamed(response: Response, init: unknown): Promise<Response> {
  const { status, headers, body } = response;
  if (!response.ok && body !== null) return new Response(await startOf(body as AsyncIterable<Uint8Array>), { status, headers });
  const { body: asked } = (init ?? {}) as Readonly<{ body?: unknown }>;
  const isStream = body !== null && typeof asked === 'string' && asksForStream({ body: asked });
  if (status !== 200 || !isStream || isJson(headers)) return response;
  return new StreamedResponse(Readable.fromWeb(body as ReadableStream<Uint8Array>), { status, headers });
}

async function startOf(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of body) {
      pieces.push(piece);
      bytes += piece.byteLength;
      if (bytes >= ERROR_BYTES_MAX) break;
    }
  } catch {
    // The status and the start of the error say enough.
  }
  return Buffer.concat(pieces).subarray(0, ERROR_BYTES_MAX);
}

type FetchInit = Readonly<{ method?: string; headers?: Headers; body?: string; signal?: AbortSignal }>;

/** The fetch of the OpenAI client: event streams are passed on as they arrive, other bodies are read whole. */
export async function fetchStreamed(dispatcher: Dispatcher, url: string, init: FetchInit): Promise<Response> {
  const { statusCode, headers, body } = await request(url, {
    dispatcher,
    method: init.method ?? 'GET',
    headers: { 'accept-encoding': 'identity', ...Object.fromEntries(init.headers ?? []) },
    // As bytes, because undici keeps the body until the answer ends, and a text besides its bytes.
    ...(init.body !== undefined && { body: Buffer.from(init.body) }),
    ...(init.signal && { signal: init.signal }),
  });
  const head = { status: statusCode, headers: headersOf(headers) };
  if (statusCode === 200 && asksForStream(init) && !isJson(head.headers)) return new StreamedResponse(body, head);
  const whole = statusCode >= 400 ? await startOf(body) : await text(bounded(body));
  return new Response(mayHaveBody(statusCode) ? whole : null, head);
}

/** JSON escapes quotes in the user's text, so this matches only the request's own field. */
const asksForStream = ({ body }: FetchInit): boolean => body?.includes('"stream":true') ?? false;

/** Endpoints that do not stream answer with one JSON value. */
const isJson = (headers: Headers): boolean => /^application\/json\b/i.test(headers.get('content-type') ?? '');

const mayHaveBody = (status: number): boolean => status !== 204 && status !== 205 && status !== 304;

function headersOf(raw: Dispatcher.ResponseData['headers']): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw)) for (const each of [value ?? []].flat()) headers.append(name, each);
  return headers;
}
