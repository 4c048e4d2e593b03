import { setImmediate as nextTurn } from 'node:timers/promises';
import { AnswerMeter } from './answer-meter.js';
import { callScopes } from './call-scope.js';
import { AnswerTooLarge, ConnectionLost } from './mcp-failures.js';
import { meantLines } from './meant-lines.js';

/** The maximum size of the response to one request. */
const MCP_ANSWER_BYTES_MAX = 2 * 1024 * 1024;

/**
 * `fetch` for sessions. A response that exceeds a limit or breaks off ends the work that waits for it, because the client would wait
 * until its timeout. Refuses the GET request by which the client would listen for messages between calls.
 */
export const mcpFetch =
  (fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
  async (input, init) => {
    const isListening = init?.method === 'GET' && !new Headers(init.headers).has('last-event-id');
    if (isListening) return new Response(null, { status: 405 });
    const scope = callScopes.current();
    const response = await fetch(input, init);
    if (!response.body) return response;
    const { status, statusText, headers } = response;
    const checked = response.body.pipeThrough(bounded()).pipeThrough(checkOf(status, headers));
    const body = watched(checked, (error) => {
      if (error instanceof AnswerTooLarge || !scope?.isResumable()) scope?.giveUp(error);
    });
    return new Response(body, { status, statusText, headers });
  };

type Transform = TransformStream<Uint8Array, Uint8Array>;

function bounded(): Transform {
  let bytes = 0;
  return new TransformStream({
    async transform(piece, out) {
      bytes += piece.byteLength;
      if (bytes > MCP_ANSWER_BYTES_MAX) throw new AnswerTooLarge(`More than ${MCP_ANSWER_BYTES_MAX} bytes came.`);
      // Streams wait only for promises, so a fast response would be handled without a pause.
      await nextTurn();
      out.enqueue(piece);
    },
  });
}

/** The check of a response that the client parses. It also parses a response of the status 400 as JSON, whatever its type. */
function checkOf(status: number, headers: Headers): Transform {
  const meter = new AnswerMeter();
  const type = headers.get('content-type')?.split(';', 1)[0]!.trim().toLowerCase();
  if (type === 'text/event-stream' && status !== 400) return meantLines((data) => data === '' || meter.admits(data));
  return type === 'application/json' || status === 400 ? wholeMessage(meter) : new TransformStream();
}

function wholeMessage(meter: AnswerMeter): Transform {
  const pieces: Uint8Array[] = [];
  return new TransformStream({
    transform: (piece) => void pieces.push(piece),
    flush(out) {
      const body = Buffer.concat(pieces);
      if (!meter.admits(body.toString())) throw new AnswerTooLarge('Too many messages came.');
      out.enqueue(body);
    },
  });
}

/** The same stream, whose failure is reported. */
function watched(body: ReadableStream<Uint8Array>, onFailure: (error: Error) => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        controller.enqueue(value);
      } catch (error) {
        const failure = error instanceof AnswerTooLarge ? error : new ConnectionLost('The answer broke off.', { cause: error });
        controller.error(failure);
        onFailure(failure);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
