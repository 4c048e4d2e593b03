import { currentScope } from './call-scope.js';
import { AnswerTooLarge, ConnectionLost } from './mcp-failures.js';
import { meantLines } from './meant-lines.js';

/** All that a server may send in answer to one request. */
const MCP_ANSWER_BYTES_MAX = 2 * 1024 * 1024;

/**
 * `fetch` for sessions. An answer that is too long or breaks off ends the work that waits for it, since the client by itself
 * would wait until its time is up. Nothing is listened to between calls: a stream for that is refused before it is asked for.
 */
export const mcpFetch =
  (fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
  async (input, init) => {
    const isListening = init?.method === 'GET' && !new Headers(init.headers).has('last-event-id');
    if (isListening) return new Response(null, { status: 405 });
    const scope = currentScope();
    const response = await fetch(input, init);
    if (!response.body) return response;
    const { status, statusText, headers } = response;
    const body = bounded(response.body, (error) => {
      if (error instanceof AnswerTooLarge || !scope?.isResumable()) scope?.giveUp(error);
    });
    const isStream = headers.get('content-type')?.toLowerCase().includes('text/event-stream') ?? false;
    return new Response(isStream ? body.pipeThrough(meantLines()) : body, { status, statusText, headers });
  };

function bounded(body: ReadableStream<Uint8Array>, onFailure: (error: Error) => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        bytes += value.byteLength;
        if (bytes > MCP_ANSWER_BYTES_MAX) throw new AnswerTooLarge(`More than ${MCP_ANSWER_BYTES_MAX} bytes came.`);
        controller.enqueue(value);
      } catch (error) {
        const failure = error instanceof AnswerTooLarge ? error : new ConnectionLost('The answer broke off.', { cause: error });
        controller.error(failure);
        onFailure(failure);
        await reader.cancel(failure).catch(() => undefined);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
