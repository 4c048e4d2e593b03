import { heldToReference, holdFrame } from './held-to-reference.js';

/** The response of one `POST /stream` or reconnect: status, bytes and the frames in them. */
export type Streamed = Readonly<{ status: number; headers: Headers; text: string; frames: readonly StreamedFrame[] }>;
export type StreamedFrame = Readonly<{ id: number; data: Record<string, unknown> & { type: string }; raw: string }>;

/** The frames in the text of a stream. Comments and an unfinished last record are skipped. */
export function framesIn(text: string): StreamedFrame[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .flatMap((record) => {
      const match = /^id: (\d+)\ndata: (.*)$/s.exec(record);
      return match ? [{ id: Number(match[1]), data: JSON.parse(match[2]!) as StreamedFrame['data'], raw: match[2]! }] : [];
    });
}

/** Only the records of a stream's text. Two readers of one message must get the same bytes. */
export const recordsIn = (text: string): string =>
  text
    .split('\n\n')
    .slice(0, -1)
    .filter((record) => record.startsWith('id: '))
    .map((record) => `${record}\n\n`)
    .join('');

export async function streamed(response: Response, until?: (text: string) => boolean): Promise<Streamed> {
  let text = '';
  const decoder = new TextDecoder();
  const reader = response.body!.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      text += decoder.decode(next.value as Uint8Array, { stream: true });
      if (until?.(text)) break;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  const frames = framesIn(text);
  for (const { data } of frames) holdFrame(response, data);
  return { status: response.status, headers: response.headers, text, frames };
}

/** A caller of the service, with or without a bearer token. Every response is checked against the API reference. */
export class Client {
  constructor(
    readonly url: string,
    private readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}, signal?: AbortSignal): Promise<Response> {
    const content = typeof body === 'string' ? body : JSON.stringify(body);
    const type = { 'content-type': 'application/json' };
    return this.fetch(
      path,
      { method: 'POST', body: content, ...(signal && { signal }) },
      { ...type, ...this.headers, ...headers },
    );
  }

  delete(path: string): Promise<Response> {
    return this.fetch(path, { method: 'DELETE' });
  }

  put(path: string, body: unknown): Promise<Response> {
    return this.change('PUT', path, body);
  }

  patch(path: string, body: unknown): Promise<Response> {
    return this.change('PATCH', path, body);
  }

  private change(method: 'PUT' | 'PATCH', path: string, body: unknown): Promise<Response> {
    return this.fetch(path, { method, body: JSON.stringify(body) }, { 'content-type': 'application/json', ...this.headers });
  }

  /** Sends any request, as this caller. */
  request(path: string, { headers, ...init }: RequestInit & { headers?: Readonly<Record<string, string>> }): Promise<Response> {
    return this.fetch(path, init, { ...this.headers, ...headers });
  }

  /** Sends a form. `fetch` sets its content type. */
  send(path: string, form: FormData, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return this.fetch(path, { method: 'POST', body: form }, { ...this.headers, ...headers });
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}, signal?: AbortSignal): Promise<Response> {
    return this.fetch(path, { ...(signal && { signal }) }, { ...this.headers, ...headers });
  }

  private fetch(path: string, init: RequestInit, headers: Readonly<Record<string, string>> = this.headers): Promise<Response> {
    return heldToReference(init.method ?? 'GET', fetch(this.url + path, { ...init, headers }));
  }

  async json<T = Record<string, unknown>>(path: string): Promise<T> {
    return (await this.get(path)).json() as Promise<T>;
  }

  /** Asks and reads the stream to its end, or until the text satisfies `until`. */
  async stream(
    body: unknown,
    until?: (text: string) => boolean,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Streamed> {
    return streamed(await this.post('/stream', body, headers), until);
  }

  async resume(messageId: string, after?: number): Promise<Streamed> {
    return streamed(
      await this.get(`/api/messages/${messageId}/events`, after === undefined ? {} : { 'last-event-id': String(after) }),
    );
  }
}

/** The types of frames in order, the same once in a row, because text may come in one frame or in several. */
export const withoutRepeats = (types: readonly string[]): string[] => types.filter((type, place) => type !== types[place - 1]);

/** The concatenated answer text of the frames. */
export const answerIn = ({ frames }: Pick<Streamed, 'frames'>): string =>
  frames.map(({ data }) => (data.type === 'answer' ? (data['answer'] as string) : '')).join('');

export const conversationIdIn = ({ frames }: Streamed): string =>
  frames.find(({ data }) => data.type === 'id')!.data['id'] as string;

export const messageIdIn = ({ frames }: Streamed): string => frames[0]!.data['message_id'] as string;
