/** A complete audio file. The extension of its name states the format. The content may be read from disk while it is sent. */
export type Recording = Readonly<{ filename: string; content: Blob }>;

export type Transcript = Readonly<{
  text: string;
  /** The language that the endpoint detected, otherwise the one that the caller stated; null if neither is known. */
  language: string | null;
  durationSeconds: number | null;
  segments: readonly Readonly<Record<string, unknown>>[];
}>;

/** Converts recordings to text and text to recordings, if models for that are configured. */
export abstract class Speech {
  /** Whether a model for transcription is configured. */
  abstract readonly hears: boolean;
  /** Whether a model for speech synthesis is configured. */
  abstract readonly speaks: boolean;
  /** @throws ModelFailed; the reason of the signal when it aborts */
  abstract transcribe(recording: Recording, language: string | undefined, signal: AbortSignal): Promise<Transcript>;
  /** Returns MP3. @throws ModelFailed; the reason of the signal when it aborts */
  abstract speak(text: string, signal: AbortSignal): Promise<Buffer>;
}
