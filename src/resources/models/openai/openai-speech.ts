import OpenAI, { APIError } from 'openai';
import { type Recording, Speech, type Transcript } from '../model/speech.port.js';
import { isJsonObject } from '../../json-object.policy.js';
import { failureOf, modelFailed } from './openai-failures.js';
import { fetchBounded } from './streamed-response.js';

export type SpeechModels = Readonly<{ hearing: string | undefined; speaking: string | undefined; voice: string }>;

const TIMEOUT_MS = 120_000;

/** The types of answers that are no recording, such as the page of a proxy. */
const NO_RECORDING = /^text\/|json/i;

/** Speech by an endpoint that implements OpenAI's `/audio/transcriptions` and `/audio/speech`. */
export class OpenAiSpeech extends Speech {
  readonly hears: boolean;
  readonly speaks: boolean;
  private readonly client: OpenAI;
  /** Whether to request `verbose_json`. Becomes false after a model has refused it. */
  private tellsDetails = true;

  constructor(
    endpoint: Readonly<{ baseUrl?: string; apiKey?: string }>,
    private readonly models: SpeechModels,
  ) {
    super();
    this.hears = models.hearing !== undefined;
    this.speaks = models.speaking !== undefined;
    this.client = new OpenAI({
      baseURL: endpoint.baseUrl ?? 'https://api.openai.com/v1',
      apiKey: endpoint.apiKey ?? 'none',
      organization: null,
      project: null,
      maxRetries: 0,
      timeout: TIMEOUT_MS,
      logLevel: 'off',
      fetch: fetchBounded,
    });
  }

  async transcribe(recording: Recording, language: string | undefined, signal: AbortSignal): Promise<Transcript> {
    try {
      return transcriptOf(await this.heard(recording, language, signal), language);
    } catch (error) {
      signal.throwIfAborted();
      throw failureOf(error);
    }
  }

  async speak(text: string, signal: AbortSignal): Promise<Buffer> {
    const { speaking: model, voice } = this.models;
    const asked = { model: model!, voice, input: text, response_format: 'mp3' as const };
    try {
      const response = await this.client.audio.speech.create(asked, { signal });
      const type = response.headers.get('content-type') ?? '';
      if (NO_RECORDING.test(type)) throw modelFailed('bad-reply', new Error(`The recording has the type ${type}.`));
      return Buffer.from(await response.arrayBuffer());
    } catch (error) {
      signal.throwIfAborted();
      throw failureOf(error);
    }
  }

  private async heard(recording: Recording, language: string | undefined, signal: AbortSignal): Promise<unknown> {
    const file = new File([recording.content], recording.filename);
    const asked = { file, model: this.models.hearing!, ...(language && { language }) };
    const create = (response_format: 'json' | 'verbose_json') =>
      this.client.audio.transcriptions.create({ ...asked, response_format }, { signal }) as Promise<unknown>;
    if (!this.tellsDetails) return create('json');
    try {
      return await create('verbose_json');
    } catch (error) {
      if (!(error instanceof APIError) || error.status !== 400 || !/response_format|verbose_json/i.test(error.message))
        throw error;
      this.tellsDetails = false;
      return create('json');
    }
  }
}

/** @throws ModelFailed */
function transcriptOf(reply: unknown, named: string | undefined): Transcript {
  const { text, language, duration, segments } = isJsonObject(reply) ? reply : {};
  if (typeof text !== 'string') throw modelFailed('bad-reply', new Error('The reply is not a transcript.'));
  return {
    text: text.trim().toWellFormed(),
    language: typeof language === 'string' ? language : (named ?? null),
    durationSeconds: Number.isFinite(Number(duration ?? NaN)) ? Number(duration) : null,
    segments: Array.isArray(segments) ? (segments as Transcript['segments']) : [],
  };
}
