import { cutText } from '../../kernel/cut-text.js';
import { Rejection } from '../../kernel/rejection.js';

/** The file types that can be transcribed. */
const RECORDING_EXTENSIONS = ['.wav', '.mp3', '.m4a', '.mp4', '.ogg', '.webm', '.flac'] as const;
/** Speech endpoints accept no larger recordings. */
export const RECORDING_BYTES_MAX = 25 * 1024 * 1024;
/** Speech endpoints accept no longer text. A longer one is read aloud in parts. */
export const SPOKEN_PART_CHARACTERS_MAX = 4_096;
export const SPOKEN_CHARACTERS_MAX = 32_768;

/** @throws Rejection invalid-request, too-large */
export function refuseRecording({ filename, size }: Readonly<{ filename: string; size: number }>): void {
  const kinds: readonly string[] = RECORDING_EXTENSIONS;
  if (!kinds.includes(/\.\w+$/.exec(filename)?.[0].toLowerCase() ?? ''))
    throw new Rejection('invalid-request', `Unsupported audio format: ${kinds.join(', ')} are supported`);
  if (size > RECORDING_BYTES_MAX) throw new Rejection('too-large', `Audio file exceeds ${RECORDING_BYTES_MAX} bytes`);
}

/** Splits a text into parts of the maximum length, at the end of a sentence if possible, else between words, else anywhere. */
export function spokenParts(text: string): readonly string[] {
  const parts: string[] = [];
  let rest = text.trim().toWellFormed();
  while (rest.length > SPOKEN_PART_CHARACTERS_MAX) {
    const room = cutText(rest, SPOKEN_PART_CHARACTERS_MAX);
    const sentence = Math.max(...['. ', '! ', '? ', '\n'].map((end) => room.lastIndexOf(end)));
    const end = sentence > 0 ? sentence + 1 : room.lastIndexOf(' ') > 0 ? room.lastIndexOf(' ') : room.length;
    parts.push(rest.slice(0, end).trim());
    rest = rest.slice(end).trim();
  }
  return rest === '' ? parts : [...parts, rest];
}
