import { createHash } from 'node:crypto';
import { gunzip } from 'node:zlib';
import { Rejection } from '../../../kernel/rejection.js';
import { isJsonObject } from '../../json-object.policy.js';

/** The maximum size of one request, unpacked. */
export const OUTPUT_REQUEST_BYTES_MAX = 4 * 1024 * 1024;
/** The maximum output of one command that is kept, as JSON. Further output is only counted. */
export const OUTPUT_KEPT_BYTES_MAX = 192 * 1024;
const ERROR_CHARACTERS_MAX = 2_000;
const LINES_MAX = 100_000;

export type OutputText = Readonly<{ stdout: string; stderr: string }>;

type CommandEnd = Readonly<{ exitCode: number | null; durationMs: number | null; error: string | null }>;

/** The content of one request with output. */
export type ReceivedLines = Readonly<{ text: OutputText; end: CommandEnd | undefined; received: number }>;

const unzip = (packed: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const done = (error: Error | null, bytes: Buffer) => (error ? reject(error) : resolve(bytes));
    gunzip(packed, { maxOutputLength: OUTPUT_REQUEST_BYTES_MAX }, done);
  });

const tooLarge = () =>
  new Rejection('device-output-too-large', `The output in one request has at most ${OUTPUT_REQUEST_BYTES_MAX} bytes, unpacked`);

/** The unpacked body. Unpacking stops at the maximum size. @throws Rejection device-output-too-large, device-invalid-gzip */
export async function unpacked(body: Buffer, encoding: string | undefined): Promise<Buffer> {
  if (encoding?.trim().toLowerCase() !== 'gzip') {
    if (body.length > OUTPUT_REQUEST_BYTES_MAX) throw tooLarge();
    return body;
  }
  try {
    return await unzip(body);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw new Rejection('device-invalid-gzip', 'The body is not valid gzip');
  }
}

/**
 * Skips lines that are not JSON objects, as older servers did, and all lines after the end of the command. Ignores unknown
 * streams.
 */
export function linesIn(body: Buffer): ReceivedLines {
  const text = { stdout: '', stderr: '' };
  let end: CommandEnd | undefined;
  let received = 0;
  for (const line of body.toString('utf8').split('\n', LINES_MAX)) {
    const value = end ? undefined : objectIn(line);
    if (!value) continue;
    received++;
    const { stream, chunk } = value;
    if (stream === 'control') end = endIn(value);
    else if ((stream === 'stdout' || stream === 'stderr') && typeof chunk === 'string') text[stream] += chunk;
  }
  return { text: { stdout: text.stdout.toWellFormed(), stderr: text.stderr.toWellFormed() }, end, received };
}

function objectIn(line: string): Readonly<Record<string, unknown>> | undefined {
  if (line.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const endIn = (value: Readonly<Record<string, unknown>>): CommandEnd => ({
  exitCode: wholeNumber(value['exit_code']),
  durationMs: wholeNumber(value['duration_ms']),
  error: typeof value['error'] === 'string' && value['error'] !== '' ? beginningOf(value['error'], ERROR_CHARACTERS_MAX) : null,
});

const wholeNumber = (value: unknown): number | null => (Number.isSafeInteger(value) ? (value as number) : null);

const beginningOf = (text: string, characters: number): string => text.slice(0, characters).toWellFormed();

const bytesOf = (text: string): number => Buffer.byteLength(JSON.stringify(text));

/** The beginning of each text that fits into the room, which is in bytes of JSON. */
export function withinRoom({ stdout, stderr }: OutputText, room: number): OutputText {
  const first = beginningWithin(stdout, room);
  return { stdout: first, stderr: beginningWithin(stderr, room - bytesOf(first)) };
}

function beginningWithin(text: string, bytes: number): string {
  let kept = beginningOf(text, Math.max(0, bytes - 2));
  while (kept !== '' && bytesOf(kept) > bytes) kept = beginningOf(kept, Math.floor(kept.length / 2));
  return kept;
}

export const keptBytesOf = ({ stdout, stderr }: OutputText): number => bytesOf(stdout) + bytesOf(stderr);

export const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');
