import { currentScope } from './call-scope.js';
import { AnswerTooLarge, ConnectionLost } from './mcp-failures.js';
import { meantLines } from './meant-lines.js';

/** The maximum size of the response to one request. */
const MCP_ANSWER_BYTES_MAX = 2 * 1024 * 1024;

/**
 * `fetch` for sessions. A response that is too large or breaks off ends the work that waits for it, because the client would wait
 * until its timeout. Refuses the GET request by which the client would listen for messages between calls.
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
