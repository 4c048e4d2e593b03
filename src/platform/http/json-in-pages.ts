import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/**
 * Sends a JSON object. `pages`: all items of its list `name`, for a list that is too long for the memory of the process. The next
 * page is read once the previous one is sent.
 */
export async function sendJson<Body extends object>(
  reply: FastifyReply,
  body: Body,
  name: keyof Body & string,
  pages: AsyncIterable<readonly unknown[]> | undefined,
): Promise<void> {
  const sent = pages ? Readable.from(textOf(body, name, pages)) : JSON.stringify(body);
  await reply.header('Content-Type', 'application/json; charset=utf-8').send(sent);
}

async function* textOf(body: object, name: string, pages: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  const { [name]: _, ...others } = body as Record<string, unknown>;
  yield `{${JSON.stringify(name)}:[`;
  let separator = '';
  for await (const page of pages) {
    for (const item of page) {
      yield separator + JSON.stringify(item);
      separator = ',';
    }
  }
  yield `],${JSON.stringify(others).slice(1)}`;
}
