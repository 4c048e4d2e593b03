import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

type Pages = () => AsyncIterable<readonly unknown[]>;

/** A JSON object as a response: its text, or, if its list `name` is too long for the memory of the process, its `others` fields. */
export type Json = string | Readonly<{ others: object; name: string; pages: Pages }>;

/** Renders an object. @param pages all items of the list `name`, if it is too long. Each response reads them again. */
export function jsonOf<Body extends object>(body: Body, name: keyof Body & string, pages: Pages | undefined): Json {
  if (!pages) return JSON.stringify(body);
  const { [name]: _, ...others } = body;
  return { others, name, pages };
}

/** Sends a JSON response. The next page is read once the previous one is sent. */
export async function sendJson(reply: FastifyReply, json: Json): Promise<void> {
  const sent = typeof json === 'string' ? json : Readable.from(textOf(json));
  await reply.header('Content-Type', 'application/json; charset=utf-8').send(sent);
}

async function* textOf({ others, name, pages }: Exclude<Json, string>): AsyncGenerator<string> {
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
