import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

type Pages = () => AsyncIterable<readonly unknown[]>;

/** A JSON response: its text, or an object whose list `name` is too long for the memory of the process. */
export type Json = string | Readonly<{ body: object; name: string; pages: Pages }>;

/** @param pages all items of the list `name`, if it is too long. Each response reads them again. */
export const jsonOf = <Body extends object>(body: Body, name: keyof Body & string, pages: Pages | undefined): Json =>
  pages ? { body: { ...body, [name]: [] }, name, pages } : JSON.stringify(body);

/** Sends a JSON response. The next page is read once the previous one is sent. */
export async function sendJson(reply: FastifyReply, json: Json): Promise<void> {
  const sent = typeof json === 'string' ? json : Readable.from(textOf(json));
  await reply.header('Content-Type', 'application/json; charset=utf-8').send(sent);
}

async function* textOf({ body, name, pages }: Exclude<Json, string>): AsyncGenerator<string> {
  const { [name]: _, ...others } = body as Record<string, unknown>;
  yield `{${JSON.stringify(name)}:[`;
  let separator = '';
  for await (const page of pages()) {
    for (const item of page) {
      yield separator + JSON.stringify(item);
      separator = ',';
    }
  }
  yield `],${JSON.stringify(others).slice(1)}`;
}
