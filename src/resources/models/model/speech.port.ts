/** A recording, whole; the name says of what kind it is. */
export type Recording = Readonly<{ filename: string; bytes: Buffer }>;

export type Transcript = Readonly<{
  text: string;
  /** As the endpoint found it, else as it was named; null: neither. */
  language: string | null;
  durationSeconds: number | null;
  segments: readonly Readonly<Record<string, unknown>>[];
}>;

/** Texts of recordings, and recordings of texts, where models for them are configured. */
export abstract class Speech {
  /** Whether recordings can be made texts. */
  abstract readonly hears: boolean;
  /** Whether texts can be made recordings. */
  abstract readonly speaks: boolean;
  /** @throws ModelFailed */
  abstract transcribe(recording: Recording, language: string | undefined, signal: AbortSignal): Promise<Transcript>;
  /** MP3. @throws ModelFailed */
  abstract speak(text: string, signal: AbortSignal): Promise<Buffer>;
}
