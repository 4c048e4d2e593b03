import type { Api } from './api.js';
import { drain } from './event-stream.js';

export type Frame = Readonly<Record<string, unknown>> & Readonly<{ type: string }>;

const LOST = 'Connection lost. The response could not be resumed; please try again.';

/**
 * Posts a question or decisions, and passes on the frames. A broken stream is continued once, from the last id. A stream that
 * ends without a terminal frame is an error. A request that fails to start rejects.
 */
export async function streamAnswer(api: Api, body: object, key: string, take: (frame: Frame) => void): Promise<void> {
  const seen = { messageId: null as string | null, cursor: null as string | null, isOver: false };
  const handle = (frame: Frame): void => {
    if (frame.type === 'message_id') seen.messageId = frame['message_id'] as string;
    if (frame.type === 'end' || frame.type === 'error') seen.isOver = true;
    take(frame);
  };
  const read = (stream: ReadableStream<Uint8Array>, hasEnough?: () => boolean): Promise<void> =>
    drain(
      stream,
      ({ id, data }) => {
        if (id !== undefined && /^\d+$/.test(id)) seen.cursor = id;
        if (data !== undefined && data.trim() !== '') handle(JSON.parse(data) as Frame);
      },
      hasEnough,
    );
  try {
    const response = await api.post('/stream', body, { 'Idempotency-Key': key });
    const refusal = await refusalIn(response);
    if (refusal !== undefined) return handle({ type: 'error', error: refusal });
    await read(response.body!);
  } catch (error) {
    if (seen.messageId === null) throw error;
  }
  if (!seen.isOver && seen.messageId !== null) {
    const response = await api.events(`/api/messages/${seen.messageId}/events`, seen.cursor).catch(() => undefined);
    if (response?.ok && response.body) await read(response.body, () => seen.isOver).catch(() => undefined);
  }
  if (!seen.isOver) handle({ type: 'error', error: LOST });
}

/** The message of a refusal that is not a stream. One that is a stream has it in its frame. */
async function refusalIn(response: Response): Promise<string | undefined> {
  if (response.ok || response.headers.get('content-type')?.includes('text/event-stream')) return undefined;
  const text = await response.text();
  try {
    const said = JSON.parse(text) as Record<string, unknown>;
    return [said['message'], said['error'], said['detail']].find((each) => typeof each === 'string');
  } catch {
    return text || `HTTP ${response.status} ${response.statusText}`;
  }
}
