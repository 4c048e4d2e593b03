import { Rejection } from '../../kernel/rejection.js';

/** Recordings of these kinds are heard. */
const RECORDING_EXTENSIONS = ['.wav', '.mp3', '.m4a', '.mp4', '.ogg', '.webm', '.flac'] as const;
/** Endpoints take no larger ones. */
export const RECORDING_BYTES_MAX = 25 * 1024 * 1024;
/** Endpoints read no longer text aloud at once; a longer one is read in parts. */
export const SPOKEN_PART_CHARACTERS_MAX = 4_096;
export const SPOKEN_CHARACTERS_MAX = 32_768;

/** @throws Rejection invalid-request, too-large */
export function refuseRecording({ filename, size }: Readonly<{ filename: string; size: number }>): void {
  const kinds: readonly string[] = RECORDING_EXTENSIONS;
  if (!kinds.includes(/\.\w+$/.exec(filename)?.[0].toLowerCase() ?? ''))
    throw new Rejection('invalid-request', `Unsupported audio format: ${kinds.join(', ')} are supported`);
  if (size > RECORDING_BYTES_MAX) throw new Rejection('too-large', `Audio file exceeds ${RECORDING_BYTES_MAX} bytes`);
}

/** A text in parts that can be read aloud, each as long as may be and cut at the end of a sentence, of a word, or anywhere. */
export function spokenParts(text: string): readonly string[] {
  const parts: string[] = [];
  let rest = text.trim();
  while (rest.length > SPOKEN_PART_CHARACTERS_MAX) {
    const room = rest.slice(0, SPOKEN_PART_CHARACTERS_MAX);
    const sentence = Math.max(...['. ', '! ', '? ', '\n'].map((end) => room.lastIndexOf(end)));
    const end = sentence > 0 ? sentence + 1 : room.lastIndexOf(' ') > 0 ? room.lastIndexOf(' ') : room.length;
    parts.push(rest.slice(0, end).trim().toWellFormed());
    rest = rest.slice(end).trim();
  }
  return rest === '' ? parts : [...parts, rest];
}
