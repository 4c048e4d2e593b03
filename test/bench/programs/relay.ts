import fastify from 'fastify';
import OpenAI from 'openai';
import { announce } from '../program.js';

/**
 * What many would write instead of this service: Fastify, the `openai` client, Server-Sent Events, and no storage. Its argument
 * is the model's address.
 */
const [model = ''] = process.argv.slice(2);
const openai = new OpenAI({ baseURL: `${model}/v1`, apiKey: 'none' });
const server = fastify();

server.post('/stream', async (request, reply) => {
  const { question } = request.body as { question: string };
  const completion = await openai.chat.completions.create({
    model: 'paced',
    stream: true,
    messages: [{ role: 'user', content: question }],
  });
  reply.hijack();
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache, no-transform' });
  let id = 0;
  for await (const { choices } of completion) {
    const answer = choices[0]?.delta.content;
    if (answer) reply.raw.write(`id: ${id++}\ndata: ${JSON.stringify({ type: 'answer', answer })}\n\n`);
  }
  reply.raw.end(`id: ${id}\ndata: {"type":"end"}\n\n`);
});

await server.ready();
announce(server.server);
