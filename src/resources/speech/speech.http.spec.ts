import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import type { ReceivedUpload, UploadStaging } from '../../platform/blobs/upload-staging.port.js';
import type { SignedInUser } from '../identity/caller.js';
import type { Recording, Speech } from '../models/model/speech.port.js';
import type { LiveTranscripts } from './live-transcripts.js';
import { SpeechController } from './speech.http.js';

it('a text is not read aloud for a client that left while its request was being accepted', async () => {
  const speech = {
    speaks: true,
    speak: async (_: string, signal: AbortSignal) => {
      signal.throwIfAborted();
      return Buffer.from('sound');
    },
  } as unknown as Speech;
  const controller = new SpeechController(speech, {} as UploadStaging, {} as LiveTranscripts);
  const reply = { raw: { destroyed: true, once: () => undefined } } as unknown as FastifyReply;
  await expect(controller.speak({} as SignedInUser, { text: 'Tea is at four.' }, reply)).rejects.toThrow('aborted');
});

it('a language has at most 16 characters', async () => {
  const begun: (string | null)[] = [];
  const live = {
    begin: async (_: string, language: string | null) => {
      begun.push(language);
      throw new Error('No session is begun.');
    },
  } as unknown as LiveTranscripts;
  const controller = new SpeechController({ hears: true } as Speech, {} as UploadStaging, live);
  const begin = (language: string) => controller.begin({ userId: 'ann' } as SignedInUser, { language });
  await expect(begin('x'.repeat(17))).rejects.toThrow('language must be a language code');
  await expect(begin('x'.repeat(16))).rejects.toThrow('No session is begun.');
  expect(begun).toEqual(['x'.repeat(16)]);
});

it('a recording is not held in memory while it is transcribed', async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'verbatim-test-')), '0');
  await writeFile(path, 'RIFF');
  const staging = {
    receive: (_: unknown, work: (upload: ReceivedUpload) => Promise<unknown>) =>
      work({ files: [{ filename: 'a.wav', size: 4, path }], fields: new Map(), oversized: [] } as unknown as ReceivedUpload),
  } as unknown as UploadStaging;
  const speech = {
    hears: true,
    transcribe: async ({ content }: Recording) => {
      expect(await content.text()).toBe('RIFF');
      await rm(path);
      await expect(content.text()).rejects.toThrow();
      return { text: 'Hello.', language: null, durationSeconds: null, segments: [] };
    },
  } as unknown as Speech;
  const request = { isMultipart: () => true, parts: () => [] } as never;
  const reply = { raw: { destroyed: false, once: () => undefined } } as unknown as FastifyReply;
  const controller = new SpeechController(speech, staging, {} as LiveTranscripts);
  expect(await controller.hear({} as SignedInUser, request, reply)).toMatchObject({ text: 'Hello.' });
});
