import { Agent, type IncomingMessage, request } from 'node:http';
import { microsNow } from './program.js';

/** Reads event streams with as little work as possible, and reports when each token was sent and when it arrived. */
export type Reading = Readonly<{
  /** Called for each token. */
  onToken?: (sentAt: number, cameAt: number) => void;
  /** Called for each chunk of the body. True ends the reading. */
  onText?: (text: string) => boolean | undefined;
}>;

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
const TOKEN = /\bt(\d+) /g;

export type Call = Readonly<{
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
  signal?: AbortSignal;
}>;

/** Resolves when the stream has ended. Rejects if it was refused or cut. */
export function read(url: string, { method = 'GET', headers = {}, body, signal }: Call, reading: Reading): Promise<void> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const length = text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const outgoing = request(
      url,
      { method, agent, headers: { ...headers, ...length }, ...(signal && { signal }) },
      (response) => {
        if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}.`));
        take(response, reading, () => resolve());
        response.once('error', reject);
      },
    );
    outgoing.once('error', reject);
    outgoing.setNoDelay(true);
    outgoing.end(text);
  });
}

function take(response: IncomingMessage, { onToken, onText }: Reading, done: () => void): void {
  let rest = '';
  response.setEncoding('latin1');
  response.on('data', (piece: string) => {
    const cameAt = microsNow();
    if (onText?.(piece)) {
      response.destroy();
      done();
      return;
    }
    if (!onToken) return;
    const text = rest + piece;
    const end = text.lastIndexOf('\n\n') + 2;
    for (const [, sentAt] of text.slice(0, end).matchAll(TOKEN)) onToken(Number(sentAt), cameAt);
    rest = text.slice(end);
  });
  response.once('end', done);
}

export const postStream = (service: string, question: string): [string, Call] => [
  `${service}/stream`,
  { method: 'POST', body: { question } },
];

export const postCompletion = (model: string, question: string): [string, Call] => [
  `${model}/v1/chat/completions`,
  { method: 'POST', body: { model: 'paced', stream: true, messages: [{ role: 'user', content: question }] } },
];
