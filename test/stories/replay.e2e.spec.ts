import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, messageIdIn, recordsIn } from '../support/client.js';
import { serviceForTests, type TestService } from '../support/service.js';

let service: TestService;
let client: Client;
beforeAll(async () => {
  service = await serviceForTests();
  client = new Client(service.url);
}, 60_000);
afterAll(() => service.close());

describe('an answer', () => {
  it('streams in the documented order with ids from 0', async () => {
    const answer = await client.stream({ question: 'Why is the sky blue?' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(answer.frames.map((frame) => frame.id)).toEqual([...answer.frames.keys()]);
    const types = answer.frames.map((frame) => frame.data.type).filter((type, index, all) => type !== all[index - 1]);
    expect(types).toEqual(['message_id', 'answer', 'source', 'tool_calls', 'id', 'end']);
  });

  it('is replayed byte for byte, from any cursor', async () => {
    const live = await client.stream({ question: 'Why is the sky blue?' });
    const id = messageIdIn(live);
    expect(recordsIn((await client.resume(id)).text)).toBe(live.text);
    for (const frame of live.frames) {
      const rest = recordsIn((await client.resume(id, frame.id)).text);
      expect(live.text.endsWith(rest)).toBe(true);
      expect(recordsIn(live.text).length - rest.length).toBe(
        live.text.indexOf(`id: ${frame.id + 1}\n`) < 0 ? live.text.length : live.text.indexOf(`id: ${frame.id + 1}\n`),
      );
    }
  });

  it('is the same after a restart', async () => {
    const live = await client.stream({ question: 'Why is the sky blue?' });
    await service.restart();
    expect(recordsIn((await client.resume(messageIdIn(live))).text)).toBe(live.text);
  });
});
