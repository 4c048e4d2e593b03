import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MakeBacking } from '../support/backing.js';
import { Client, messageIdIn, recordsIn, type Streamed, streamed, withoutRepeats } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { ScriptedModelServer, say, think, wait } from '../support/scripted-model-server.js';
import { serviceForTests, type TestService } from '../support/service.js';
import { TurnLog } from '../support/turn-log.js';
import { digestOf, expectTurnWhole } from '../support/whole-turn.js';

const SLOWLY = [...think('Hm. '), ...say('The ', 'sky '), wait(150), ...say('is ', 'blue '), wait(150), ...say('because.')];

/** An answer has the same bytes for the asker, for concurrent readers, and for every later reader. */
export function replayStory(makeBacking: MakeBacking): void {
  let service: TestService;
  let model: ScriptedModelServer;
  let client: Client;
  beforeAll(async () => {
    model = await ScriptedModelServer.start();
    service = await serviceForTests({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'scripted' }, makeBacking);
    client = new Client(service.url);
  });
  afterAll(async () => {
    await service.close();
    await model.close();
  });

  const answered = (): Promise<Streamed> => client.stream({ question: 'Why is the sky blue?' });
  const digest = async (id: string) => (await client.json<{ sha256: string }>(`/api/messages/${id}/digest`)).sha256;

  describe('an answer', () => {
    it('streams in the documented order with ids from 0', async () => {
      model.next(SLOWLY);
      const answer = await answered();
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
      expect(answer.headers.get('cache-control')).toBe('no-cache, no-transform');
      expect(answer.headers.get('x-accel-buffering')).toBe('no');
      expect(answer.frames.map((frame) => frame.id)).toEqual([...answer.frames.keys()]);
      expect(withoutRepeats(answer.frames.map(({ data }) => data.type))).toEqual([
        'message_id',
        'thought',
        'answer',
        'source',
        'tool_calls',
        'id',
        'end',
      ]);
      expect(answer.text).toBe(recordsIn(answer.text));
    });

    it('is replayed byte for byte from any cursor, in header or query', async () => {
      const live = await answered();
      const id = messageIdIn(live);
      expect(recordsIn((await client.resume(id)).text)).toBe(live.text);
      for (const frame of live.frames) {
        const rest = live.text.slice(live.text.indexOf(`data: ${frame.raw}\n\n`) + `data: ${frame.raw}\n\n`.length);
        expect(recordsIn((await client.resume(id, frame.id)).text)).toBe(rest);
        const byQuery = await streamed(await client.get(`/api/messages/${id}/events?last_event_id=${frame.id}`));
        expect(recordsIn(byQuery.text)).toBe(rest);
      }
    });

    it('is the same for a second reader who joins while it is streamed', async () => {
      model.next(SLOWLY);
      let second: Promise<Streamed> | undefined;
      const live = await client.stream({ question: 'Why?' }, (text) => {
        const id = /"message_id":"([^"]+)"/.exec(text)?.[1];
        if (id) second ??= client.resume(id);
        return false;
      });
      expect(recordsIn((await second!).text)).toBe(live.text);
    });

    it('has one SHA-256: live, for a second reader, in the digest, in the log, and after a restart', async () => {
      const live = await answered();
      const id = messageIdIn(live);
      const sha256 = digestOf(live.text);
      const seen = async () => [digestOf(recordsIn((await client.resume(id)).text)), await digest(id)];
      expect(await seen()).toEqual([sha256, sha256]);
      const log = new TurnLog(service.backing.store);
      // An answer is sealed after its readers have received its end.
      await eventually(async () => (await log.refresh()).unsealed.length === 0);
      await expectTurnWhole(log, id, client);
      await service.restart();
      expect(await seen()).toEqual([sha256, sha256]);
    });
  });
}
