import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request as ask } from 'undici';
import { announce } from '../program.js';

/**
 * The minimum that provides the same streams without durability: it forwards a model's tokens as Server-Sent Events and stores
 * nothing. `/stream` asks the model, `/replay` sends frames from memory, `/idle` sends nothing, `/tell` sends two events to the
 * reader that holds `/events` open under the same name. Its argument is the model's address.
 */
const [model = ''] = process.argv.slice(2);
const models = new Agent({ connections: 2_000, headersTimeout: 0, bodyTimeout: 0 });
const SSE = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache, no-transform' };
const PIECE_CHARACTERS = 48 * 1024;

async function relay(question: string, response: ServerResponse): Promise<void> {
  const body = JSON.stringify({ model: 'paced', stream: true, messages: [{ role: 'user', content: question }] });
  const { body: completion } = await ask(`${model}/v1/chat/completions`, { method: 'POST', body, dispatcher: models });
  response.writeHead(200, SSE);
  let id = 0;
  let rest = '';
  for await (const bytes of completion) {
    const records = (rest + (bytes as Buffer).toString('utf8')).split('\n\n');
    rest = records.pop()!;
    let frames = '';
    for (const record of records) {
      if (record === 'data: [DONE]') continue;
      const text = (JSON.parse(record.slice(6)) as { choices: { delta: { content?: string } }[] }).choices[0]?.delta.content;
      if (text !== undefined) frames += `id: ${id++}\ndata: ${JSON.stringify({ type: 'answer', answer: text })}\n\n`;
    }
    if (frames) response.write(frames);
  }
  response.end(`id: ${id}\ndata: {"type":"end"}\n\n`);
}

const frameAt = (id: number): string => `id: ${id}\ndata: {"type":"answer","answer":"t${1_000_000_000 + id} "}\n\n`;

function replay(count: number, response: ServerResponse): void {
  response.writeHead(200, SSE);
  let id = 0;
  const next = (): void => {
    while (id < count) {
      let piece = '';
      while (id < count && piece.length < PIECE_CHARACTERS) piece += frameAt(id++);
      if (!response.write(piece) && id < count) {
        response.once('drain', next);
        return;
      }
    }
    response.end('id: -1\ndata: {"type":"end"}\n\n');
  };
  next();
}

const listening = new Map<string, ServerResponse>();

function tell(name: string, response: ServerResponse): void {
  for (const mark of ['running', 'unread']) {
    const millis = Date.now();
    const event = { type: 'conversation.mark', ts: new Date(millis).toISOString(), user_id: name, payload: { mark } };
    listening.get(name)?.write(`id: ${millis}-0\ndata: ${JSON.stringify(event)}\n\n`);
  }
  response.end('{}');
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path, argument] = request.url!.split('?');
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  if (path === '/replay') return replay(Number(argument), response);
  if (path === '/idle') return void response.writeHead(200, SSE).write(': connected\n\n');
  if (path === '/tell') return tell(argument!, response);
  if (path === '/events') {
    listening.set(argument!, response);
    return void response.writeHead(200, SSE).write(': connected\n\n');
  }
  const { question } = JSON.parse(Buffer.concat(parts).toString('utf8')) as { question: string };
  await relay(question, response);
}

announce(createServer({ noDelay: true }, (request, response) => void answer(request, response).catch(() => response.destroy())));
