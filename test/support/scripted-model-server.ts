import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** One step of the scripted model. Steps follow each other without delay, except `wait` and `until`. */
export type Step =
  | Readonly<{ do: 'say' | 'think'; text: string }>
  | Readonly<{ do: 'call'; id: string; name: string; arguments: string }>
  /** Written verbatim, for output that no model should send. */
  | Readonly<{ do: 'write'; text: string }>
  | Readonly<{ do: 'wait'; ms: number }>
  /** Continues when the test resolves the promise. */
  | Readonly<{ do: 'until'; come: Promise<unknown> }>
  /** Sends nothing more and keeps the connection open. */
  | Readonly<{ do: 'hang' }>
  /** Ends the response as if it were complete. */
  | Readonly<{ do: 'end' }>
  /** Cuts the connection. */
  | Readonly<{ do: 'cut' }>
  | Readonly<{ do: 'usage'; promptTokens: number; completionTokens: number }>
  | Readonly<{ do: 'finish'; reason?: string }>
  /** Refuses in place of a stream. Only as the first step. */
  | Readonly<{ do: 'refuse'; status: number; body?: unknown; headers?: Readonly<Record<string, string>> }>;

export const say = (...texts: readonly string[]): Step[] => texts.map((text) => ({ do: 'say', text }));
export const think = (...texts: readonly string[]): Step[] => texts.map((text) => ({ do: 'think', text }));
export const wait = (ms: number): Step => ({ do: 'wait', ms });
export const until = (come: Promise<unknown>): Step => ({ do: 'until', come });
export const call = (id: string, name: string, args: unknown): Step => ({
  do: 'call',
  id,
  name,
  arguments: JSON.stringify(args),
});
export const write = (text: string): Step => ({ do: 'write', text });
export const refuse = (status: number, message = 'refused', headers: Readonly<Record<string, string>> = {}): Step => ({
  do: 'refuse',
  status,
  body: { error: { message } },
  headers,
});
export const hang: Step = { do: 'hang' };
export const end: Step = { do: 'end' };
export const cut: Step = { do: 'cut' };
/** The model fails after its output. A cut connection may lose the error. */
export const broken: Step = write('data: {"error":{"message":"The model broke."}}\n\n');
/** `count` words at an even pace. */
export const words = (count: number, everyMs: number): Step[] =>
  Array.from({ length: count }, (_, index): Step[] => [
    ...(index > 0 && everyMs > 0 ? [wait(everyMs)] : []),
    ...say(`word${index} `),
  ]).flat();

export type CompletionRequest = Readonly<{
  model: string;
  messages: readonly Readonly<{ role: string; content: unknown }>[];
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  [field: string]: unknown;
}>;

/** A request as the server received it. `closed` is true if the connection ended before the response was complete. */
export type SeenRequest = {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: CompletionRequest;
  closed: boolean;
};

export type Script = readonly Step[] | ((request: CompletionRequest, count: number) => readonly Step[]);

const EMBEDDING_SIZE = 64;

/**
 * A scripted model endpoint: OpenAI's streamed chat completions, `/models` and `/embeddings` over real HTTP. Each script queued
 * with `next` is used once, in order. Then the fallback is used.
 */
export class ScriptedModelServer {
  readonly requests: SeenRequest[] = [];
  /** The response of `/models`. Undefined: the endpoint answers 503. */
  models: readonly Readonly<{ id: string; [field: string]: unknown }>[] | undefined = [{ id: 'scripted' }];
  /** If set, the scripts of `next` are only for requests that contain this text. Others get the fallback. */
  meantFor: string | undefined;
  private fallback: Script = say('Hello', ' from', ' the', ' script.');
  private queued: Script[] = [];
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void this.answer(request, response).catch(() => response.destroy());
    });
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  static async start(port = 0): Promise<ScriptedModelServer> {
    const server = createServer({ noDelay: true, keepAliveTimeout: 60_000 });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new ScriptedModelServer(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  /** The requests for chat completions. */
  get completions(): readonly SeenRequest[] {
    return this.requests.filter(({ path }) => path === '/v1/chat/completions');
  }

  get connections(): number {
    return this.sockets.size;
  }

  always(script: Script): this {
    this.fallback = script;
    return this;
  }

  next(...scripts: readonly Script[]): this {
    this.queued.push(...scripts);
    return this;
  }

  reset(): void {
    this.requests.length = 0;
    this.queued = [];
    this.meantFor = undefined;
    this.fallback = say('Hello', ' from', ' the', ' script.');
    this.models = [{ id: 'scripted' }];
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url!.split('?', 1)[0]!;
    const body = (await bodyOf(request)) as CompletionRequest;
    const seen: SeenRequest = { path, headers: request.headers, body, closed: false };
    this.requests.push(seen);
    response.once('close', () => (seen.closed = !response.writableFinished));
    if (path === '/v1/models')
      return this.models ? json(response, 200, { object: 'list', data: this.models }) : json(response, 503, {});
    if (path === '/v1/embeddings') return json(response, 200, embeddings(body));
    if (path !== '/v1/chat/completions') return json(response, 404, { error: { message: 'Not found' } });
    const isMeant = this.meantFor === undefined || JSON.stringify(body).includes(this.meantFor);
    const script = (isMeant && this.queued.shift()) || this.fallback;
    await play(typeof script === 'function' ? script(body, this.completions.length) : script, body, response);
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return parts.length > 0 ? (JSON.parse(Buffer.concat(parts).toString('utf8')) as unknown) : {};
}

function json(response: ServerResponse, status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

async function play(steps: readonly Step[], request: CompletionRequest, response: ServerResponse): Promise<void> {
  const [first] = steps;
  if (first?.do === 'refuse') return json(response, first.status, first.body ?? {}, first.headers);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  const frame = (delta: object, finish_reason: string | null = null) =>
    response.write(
      `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', model: request.model, choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
    );
  let calls = 0;
  let finished = false;
  let words = 0;
  for (const step of steps) {
    if (response.destroyed) return;
    switch (step.do) {
      case 'say':
        words++;
        frame({ content: step.text });
        break;
      case 'think':
        frame({ reasoning_content: step.text });
        break;
      case 'call':
        frame({ tool_calls: [{ index: calls, id: step.id, type: 'function', function: { name: step.name, arguments: '' } }] });
        for (const part of step.arguments.match(/.{1,7}/gs) ?? [])
          frame({ tool_calls: [{ index: calls, function: { arguments: part } }] });
        calls++;
        break;
      case 'write':
        response.write(step.text);
        break;
      case 'wait':
        await pause(step.ms);
        break;
      case 'until':
        await step.come;
        break;
      case 'hang':
        return;
      case 'end':
        response.end();
        return;
      case 'cut':
        response.destroy();
        return;
      case 'usage':
        response.write(usageFrame(step.promptTokens, step.completionTokens));
        break;
      case 'finish':
        frame({}, step.reason ?? 'stop');
        finished = true;
        break;
    }
  }
  if (!finished) frame({}, calls > 0 ? 'tool_calls' : 'stop');
  if (request.stream_options?.include_usage && !steps.some((step) => step.do === 'usage')) response.write(usageFrame(10, words));
  response.end('data: [DONE]\n\n');
}

const usageFrame = (promptTokens: number, completionTokens: number) =>
  `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: promptTokens, completion_tokens: completionTokens } })}\n\n`;

/** Embeddings in which texts that share words point in similar directions. */
function embeddings({ input }: CompletionRequest) {
  const texts = Array.isArray(input) ? (input as string[]) : [String(input)];
  return { object: 'list', data: texts.map((text, index) => ({ object: 'embedding', index, embedding: embedding(text) })) };
}

function embedding(text: string): number[] {
  const vector = Array.from({ length: EMBEDDING_SIZE }, () => 0);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    let hash = 7;
    for (const character of word) hash = (hash * 31 + character.codePointAt(0)!) % 1_000_003;
    vector[hash % EMBEDDING_SIZE]! += 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((each) => each / length);
}
