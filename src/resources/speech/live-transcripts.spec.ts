import { expect, it } from '@jest/globals';
import { newId } from '../../kernel/ids.js';
import type { Seals } from '../../platform/credentials/seals.port.js';
import { InProcessKeyValue } from '../../platform/messaging/key-value/in-process-key-value.js';
import { LIVE_CHARACTERS_MAX } from './live-transcript.policy.js';
import { LiveTranscripts } from './live-transcripts.js';

const plain: Seals = { seal: (text) => Buffer.from(text), open: (sealed) => Buffer.from(sealed).toString() };

it('a live transcript is limited in length, is not overwritten with an old revision, and is readable only by its user', async () => {
  const live = new LiveTranscripts(new InProcessKeyValue(), plain, { next: newId });
  const { sessionId, transcript } = await live.begin('ann', 'en');
  const { revision } = await live.recall('ann', sessionId);
  const longest = { ...transcript, committed: 'x'.repeat(LIVE_CHARACTERS_MAX) };
  await live.keep('ann', sessionId, longest, revision);
  expect((await live.recall('ann', sessionId)).transcript).toEqual(longest);
  const tooLong = { ...longest, mutable: 'x' };
  await expect(live.keep('ann', sessionId, tooLong, revision)).rejects.toMatchObject({ code: 'too-large' });
  await expect(live.keep('ann', sessionId, transcript, revision)).rejects.toMatchObject({ code: 'live-chunk-invalid' });
  await expect(live.recall('bob', sessionId)).rejects.toMatchObject({ code: 'live-transcript-not-found' });
});
