import { type Agent, fetch as undiciFetch, type RequestInit as UndiciInit } from 'undici';
import { OutgoingFailed } from './outgoing-http.port.js';
import { outgoingFailure } from './outgoing-failures.js';
import { outgoingUrl } from './outgoing-url.js';
import { type Hop, nextHop } from './redirects.js';
import { sendableHeaders } from './request-headers.js';

/** Maximum bytes of a response. */
export const FETCHED_BYTES_MAX = 16 * 1024 * 1024;

/** A `fetch` for libraries, with the guarded agent and the same rules for redirects. Request bodies are buffered. */
export const guardedFetch = (agent: Agent): typeof globalThis.fetch =>
  async function fetch(input, init): Promise<Response> {
    const { first, redirect, signal } = await opened(input, init).catch(asTypeError);
    let hop = first;
    for (let redirects = 0; ; redirects++) {
      const { url, method, headers, body } = hop;
      const asked = { method, headers, body: body ?? null, signal, redirect: 'manual', dispatcher: agent } as UndiciInit;
      const response = (await undiciFetch(url, asked).catch((error: unknown) => {
        signal.throwIfAborted();
        return asTypeError(outgoingFailure(error, url.hostname));
      })) as unknown as Response;
      try {
        const next =
          redirect === 'manual'
            ? undefined
            : nextHop(hop, response.status, response.headers.get('location') ?? undefined, redirects);
        if (next === undefined) return bounded(response, url);
        if (redirect === 'error') throw new OutgoingFailed(`${url.hostname} redirects.`);
        hop = next;
      } catch (error) {
        return asTypeError(error);
      } finally {
        if (hop.url !== url) await response.body?.cancel();
      }
    }
  };

async function opened(input: Parameters<typeof fetch>[0], init: RequestInit | undefined) {
  // Parsed first, because the errors of `Request` have another type.
  const url = outgoingUrl(input instanceof Request ? input.url : String(input));
  const request = input instanceof Request ? new Request(input, init) : new Request(url, init);
  const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
  const first: Hop = { url, method: request.method, headers: sendableHeaders(request.headers), body };
  return { first, redirect: request.redirect, signal: request.signal };
}

/** Wraps errors in a TypeError, as `fetch` does. */
function asTypeError(error: unknown): never {
  throw new TypeError('fetch failed', { cause: error });
}

function bounded(response: Response, url: URL): Response {
  let bytes = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, out) {
      bytes += piece.byteLength;
      if (bytes > FETCHED_BYTES_MAX) out.error(new OutgoingFailed(`The answer is longer than ${FETCHED_BYTES_MAX} bytes.`));
      else out.enqueue(piece);
    },
  });
  const { status, statusText } = response;
  const headers = new Headers([...response.headers].filter(([name]) => name !== 'content-encoding' && name !== 'content-length'));
  const answer = new Response(response.body?.pipeThrough(counting) ?? null, { status, statusText, headers });
  return Object.defineProperty(answer, 'url', { value: url.href });
}
