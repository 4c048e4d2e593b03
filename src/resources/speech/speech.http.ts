import { openAsBlob } from 'node:fs';
import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiConsumes, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Rejection } from '../../kernel/rejection.js';
import { type FormPart, type ReceivedUpload, UploadStaging } from '../../platform/blobs/upload-staging.port.js';
import { Access } from '../../platform/http/access.js';
import { clientGone } from '../../platform/http/connections/client-gone.js';
import { DocumentedBody } from '../../platform/http/documented.js';
import type { SignedInUser } from '../identity/caller.js';
import { CurrentUser } from '../identity/identity.http.js';
import { ModelFailed } from '../models/model/language-model.port.js';
import { Speech, type Transcript } from '../models/model/speech.port.js';
import { LIVE_SCHEMA, liveRecord, SPOKEN_SCHEMA, TRANSCRIPT_SCHEMA } from './speech.dto.js';
import { wholeText, withHeard } from './live-transcript.policy.js';
import { chunkInvalid, LiveTranscripts } from './live-transcripts.js';
import { refuseRecording, SPOKEN_CHARACTERS_MAX, spokenParts } from './recordings.policy.js';
import { isJsonObject } from '../json-object.policy.js';
import { isLongerThan } from '../text-length.policy.js';

type FormRequest = FastifyRequest & { isMultipart(): boolean; parts(): AsyncIterable<FormPart> };

const LANGUAGE = { type: 'string', description: 'For example `en`. By default the endpoint detects it.' };
const RECORDING = { type: 'string', format: 'binary' };
const LANGUAGE_CHARACTERS_MAX = 16;

/** Speech to text and text to speech, done by the configured endpoint. */
@ApiTags('Speech')
@Controller('api')
export class SpeechController {
  constructor(
    private readonly speech: Speech,
    private readonly staging: UploadStaging,
    private readonly live: LiveTranscripts,
  ) {}

  @Access({ for: 'user', action: 'ask', of: 'speech' })
  @Post('tts')
  @HttpCode(200)
  @ApiOperation({ summary: 'Reads a text aloud; 501 if TTS_MODEL is unset' })
  @DocumentedBody(
    {
      schema: { type: 'object', required: ['text'], properties: { text: { type: 'string', maxLength: SPOKEN_CHARACTERS_MAX } } },
    },
    { text: 'Tea is at four.' },
  )
  @ApiOkResponse({ schema: SPOKEN_SCHEMA })
  async speak(@CurrentUser() _: SignedInUser, @Body() body: unknown, @Res({ passthrough: true }) reply: FastifyReply) {
    if (!this.speech.speaks) throw notConfigured('TTS_MODEL');
    const text = fieldOf(body, 'text');
    if (typeof text !== 'string' || text.trim() === '') throw new Rejection('invalid-request', 'text is required');
    if (isLongerThan(text, SPOKEN_CHARACTERS_MAX))
      throw new Rejection('invalid-request', `text has more than ${SPOKEN_CHARACTERS_MAX} characters`);
    const signal = clientGone(reply);
    const recordings: Buffer[] = [];
    // MP3 recordings can be concatenated to one recording.
    for (const part of spokenParts(text)) recordings.push(await this.speech.speak(part, signal).catch(asRefusal));
    return { success: true, audio_base64: Buffer.concat(recordings).toString('base64') };
  }

  @Access({ for: 'user', action: 'ask', of: 'speech' })
  @Post('stt')
  @HttpCode(200)
  @ApiOperation({ summary: 'Transcribes a recording; 501 if STT_MODEL is unset' })
  @ApiConsumes('multipart/form-data')
  @DocumentedBody(
    { schema: { type: 'object', required: ['file'], properties: { file: RECORDING, language: LANGUAGE } } },
    { file: 'Tea is at four.' },
  )
  @ApiOkResponse({ schema: TRANSCRIPT_SCHEMA })
  async hear(@CurrentUser() _: SignedInUser, @Req() request: FormRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { text, language, durationSeconds, segments } = await this.received(request, (upload) =>
      this.heard(upload, languageIn(upload.fields.get('language')), reply),
    );
    return { success: true, text, language, duration_s: durationSeconds, segments, provider: 'openai' };
  }

  @Access({ for: 'user', action: 'ask', of: 'speech' })
  @Post('stt/live/start')
  @HttpCode(200)
  @ApiOperation({ summary: 'Starts a live transcription' })
  @DocumentedBody({ schema: { type: 'object', properties: { language: LANGUAGE } } }, { language: 'en' })
  @ApiOkResponse({ schema: LIVE_SCHEMA })
  async begin(@CurrentUser() user: SignedInUser, @Body() body: unknown) {
    if (!this.speech.hears) throw notConfigured('STT_MODEL');
    const { sessionId, transcript } = await this.live.begin(user.userId, languageIn(fieldOf(body, 'language')) ?? null);
    return liveRecord(sessionId, transcript);
  }

  @Access({ for: 'user', action: 'ask', of: 'speech' })
  @Post('stt/live/chunk')
  @HttpCode(200)
  @ApiOperation({ summary: 'Transcribes one more chunk, which holds all that was said so far or only the end of it' })
  @ApiConsumes('multipart/form-data')
  @DocumentedBody(
    {
      schema: {
        type: 'object',
        required: ['session_id', 'chunk_index', 'file'],
        properties: {
          session_id: { type: 'string' },
          chunk_index: { type: 'integer', minimum: 0, description: 'Greater than the index of the chunk before.' },
          is_silence: { type: 'boolean', description: 'Whether the chunk ends in silence.' },
          file: RECORDING,
        },
      },
    },
    { session_id: '00000000-0000-4000-8000-000000000000', chunk_index: '0', file: 'Tea' },
  )
  @ApiOkResponse({ schema: LIVE_SCHEMA })
  async hearChunk(
    @CurrentUser() { userId }: SignedInUser,
    @Req() request: FormRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.received(request, async (upload) => {
      const sessionId = upload.fields.get('session_id') ?? '';
      if (sessionId === '') throw new Rejection('invalid-request', 'Missing required fields: session_id');
      const { transcript, revision } = await this.live.recall(userId, sessionId);
      const index = upload.fields.get('chunk_index') ?? '';
      const chunk = /^\d{1,9}$/.test(index) ? Number(index) : -1;
      if (chunk <= transcript.lastChunk) throw chunkInvalid();
      const { text, language } = await this.heard(upload, transcript.language ?? undefined, reply);
      const next = withHeard(transcript, text, chunk, language);
      await this.live.keep(userId, sessionId, next, revision);
      return { ...liveRecord(sessionId, next), chunk_index: chunk, is_silence: upload.fields.get('is_silence') === 'true' };
    });
  }

  @Access({ for: 'user', action: 'ask', of: 'speech' })
  @Post('stt/live/finish')
  @HttpCode(200)
  @ApiOperation({ summary: 'Ends a live transcription and returns the whole text' })
  @DocumentedBody(
    { schema: { type: 'object', required: ['session_id'], properties: { session_id: { type: 'string' } } } },
    { session_id: '00000000-0000-4000-8000-000000000000' },
  )
  @ApiOkResponse({ schema: LIVE_SCHEMA })
  async finish(@CurrentUser() { userId }: SignedInUser, @Body() body: unknown) {
    if (!this.speech.hears) throw notConfigured('STT_MODEL');
    const sessionId = fieldOf(body, 'session_id');
    const { transcript } = await this.live.recall(userId, sessionId);
    await this.live.end(userId, sessionId as string);
    const text = wholeText(transcript);
    return { ...liveRecord(sessionId as string, { ...transcript, committed: text, mutable: '' }), text };
  }

  private received<T>(request: FormRequest, work: (upload: ReceivedUpload) => Promise<T>): Promise<T> {
    if (!this.speech.hears) throw notConfigured('STT_MODEL');
    if (!request.isMultipart()) throw new Rejection('invalid-request', 'Missing file');
    return this.staging.receive(request.parts(), work);
  }

  private async heard({ files }: ReceivedUpload, language: string | undefined, reply: FastifyReply): Promise<Transcript> {
    const [file] = files;
    if (!file) throw new Rejection('invalid-request', 'Missing file');
    refuseRecording(file);
    const recording = { filename: file.filename, content: await openAsBlob(file.path) };
    return this.speech.transcribe(recording, language, clientGone(reply)).catch(asRefusal);
  }
}

const notConfigured = (variable: string) =>
  new Rejection('speech-not-configured', `Speech is not configured on this server: ${variable} is unset.`);

const fieldOf = (body: unknown, name: string): unknown => (isJsonObject(body) ? body[name] : undefined);

function languageIn(given: unknown): string | undefined {
  if (given === undefined || given === null || given === '') return undefined;
  if (typeof given !== 'string' || given.length > LANGUAGE_CHARACTERS_MAX)
    throw new Rejection('invalid-request', 'language must be a language code');
  return given;
}

/** Turns a refusal by the endpoint into a rejection, because the caller has to correct the request. */
function asRefusal(error: unknown): never {
  if (error instanceof ModelFailed && error.failure === 'not-accepted')
    throw new Rejection('recording-not-accepted', 'The speech endpoint did not accept the request.');
  throw error;
}
