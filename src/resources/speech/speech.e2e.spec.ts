import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { answerJson, LocalServer, type ReceivedRequest } from '../../../test/support/local-server.js';
import { openWorld, replyOf, type World } from '../../../test/support/world.js';
import { SPOKEN_CHARACTERS_MAX } from './recordings.policy.js';

let endpoint: LocalServer;
let world: World;
/** The next transcripts that the endpoint returns. */
let heard: object[] = [];
let refusal: Readonly<{ status: number; message: string }> | undefined;

beforeAll(async () => {
  endpoint = await LocalServer.started((request, response) => {
    if (refusal) return answerJson(response, { error: { message: refusal.message } }, refusal.status);
    if (request.path === '/v1/audio/speech') {
      const { input } = JSON.parse(request.body) as { input: string };
      return void response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(`<${input}>`);
    }
    if (request.path === '/v1/audio/transcriptions') return answerJson(response, heard.shift() ?? { text: 'Hello.' });
    answerJson(response, { object: 'list', data: [{ id: 'scripted' }] });
  });
  world = await openWorld({ OPENAI_BASE_URL: `${endpoint.url}/v1`, STT_MODEL: 'ears', TTS_MODEL: 'mouth', TTS_VOICE: 'nova' });
});
afterAll(async () => {
  await world.close();
  await endpoint.close();
});
beforeEach(() => {
  heard = [];
  refusal = undefined;
  endpoint.requests.length = 0;
});

const form = (fields: Readonly<Record<string, string>>, filename?: string): FormData => {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  if (filename !== undefined) data.append('file', new Blob(['RIFF']), filename);
  return data;
};
const hear = (fields: Readonly<Record<string, string>> = {}, filename?: string, path = '/api/stt') =>
  replyOf(world.alice.send(path, form(fields, filename)));
const audioRequests = (): readonly ReceivedRequest[] => endpoint.requests.filter(({ path }) => path.startsWith('/v1/audio/'));

describe('text to speech', () => {
  it('reads a text aloud in the configured voice', async () => {
    const { status, body } = await replyOf(world.alice.post('/api/tts', { text: 'Tea is at four.' }));
    const audio_base64 = Buffer.from('<Tea is at four.>').toString('base64');
    expect([status, body]).toEqual([200, { success: true, audio_base64 }]);
    expect(JSON.parse(audioRequests()[0]!.body)).toMatchObject({ model: 'mouth', voice: 'nova', response_format: 'mp3' });
  });

  it('reads a long text in parts and joins them to one recording', async () => {
    const text = 'Tea is at four. '.repeat(400);
    const { body } = await replyOf(world.alice.post('/api/tts', { text }));
    const audio = Buffer.from((body as { audio_base64: string }).audio_base64, 'base64').toString();
    expect(audio.match(/</g)).toHaveLength(2);
    expect(audio.match(/four/g)).toHaveLength(400);
  });

  it.each([
    ['missing', {}],
    ['blank', { text: ' ' }],
    ['not a text', { text: 7 }],
    ['too long', { text: 'x'.repeat(SPOKEN_CHARACTERS_MAX + 1) }],
  ])('refuses a text that is %s', async (_, body) => {
    expect((await replyOf(world.alice.post('/api/tts', body))).status).toBe(400);
  });
});

describe('a recording', () => {
  it('is transcribed, with the language, duration and segments from the endpoint', async () => {
    heard = [{ text: ' Tea is at four. ', language: 'en', duration: 1.5, segments: [{ id: 0, text: 'Tea is at four.' }] }];
    const { status, body } = await hear({ language: 'en' }, 'clip.wav');
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        text: 'Tea is at four.',
        language: 'en',
        duration_s: 1.5,
        segments: [{ id: 0, text: 'Tea is at four.' }],
        provider: 'openai',
      },
    ]);
    expect(audioRequests()[0]!.body).toMatch(/name="model"\s+ears/);
  });

  it.each([
    ['that is missing', undefined, 'Missing file'],
    ['of an unsupported type', 'clip.exe', 'Unsupported audio format'],
  ])('%s is refused', async (_, filename, message) => {
    const { status, text } = await hear({}, filename);
    expect([status, text]).toEqual([400, expect.stringContaining(message)]);
    expect(audioRequests()).toEqual([]);
  });

  it('is refused with the status of the endpoint’s error', async () => {
    refusal = { status: 400, message: 'Invalid file format.' };
    expect((await hear({}, 'clip.wav')).status).toBe(400);
    refusal = { status: 503, message: 'Busy.' };
    expect((await hear({}, 'clip.wav')).status).toBe(503);
  });
});

describe('live transcription', () => {
  const start = async () => {
    const { body } = await replyOf(world.alice.post('/api/stt/live/start', { language: 'en' }));
    return body as { session_id: string; transcript_text: string };
  };
  const chunk = (fields: Readonly<Record<string, string>>) => hear(fields, 'chunk.wav', '/api/stt/live/chunk');

  it('returns committed and mutable text per chunk, and the whole text at the end', async () => {
    const { session_id, ...begun } = await start();
    expect(begun).toMatchObject({ success: true, language: 'en', transcript_text: '', committed_text: '' });
    heard = [{ text: 'tea is at' }, { text: 'Tea is at four' }];
    expect((await chunk({ session_id, chunk_index: '0' })).body).toMatchObject({ committed_text: '', mutable_text: 'tea is at' });
    expect((await chunk({ session_id, chunk_index: '1', is_silence: 'true' })).body).toMatchObject({
      committed_text: 'Tea is at',
      mutable_text: 'four',
      transcript_text: 'Tea is at four',
      is_silence: true,
      chunk_index: 1,
    });
    const finished = await replyOf(world.alice.post('/api/stt/live/finish', { session_id }));
    expect(finished.body).toMatchObject({ success: true, text: 'Tea is at four' });
    expect((await replyOf(world.alice.post('/api/stt/live/finish', { session_id }))).status).toBe(404);
  });

  it('refuses chunks that are out of order', async () => {
    const { session_id } = await start();
    await chunk({ session_id, chunk_index: '1' });
    for (const chunk_index of ['1', '0', '-1', '', 'x']) {
      const { status, body } = await chunk({ session_id, chunk_index });
      expect([status, body]).toMatchObject([409, { message: 'Invalid live transcription chunk' }]);
    }
  });

  it('is not found for another user', async () => {
    const { session_id } = await start();
    const { status, body } = await replyOf(world.bob.post('/api/stt/live/finish', { session_id }));
    expect([status, body]).toMatchObject([404, { message: 'Live transcription session not found' }]);
    expect((await chunk({ session_id: 'unknown', chunk_index: '0' })).status).toBe(404);
    expect((await chunk({ chunk_index: '0' })).status).toBe(400);
  });
});
