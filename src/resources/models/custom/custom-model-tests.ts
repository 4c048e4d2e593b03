import { Injectable } from '@nestjs/common';
import { Timing } from '../../../kernel/timing.js';
import { withoutTrailing } from '../../../kernel/trailing.js';
import { AddressRefused, OutgoingFailed, OutgoingHttp } from '../../../platform/outgoing/outgoing-http.port.js';
import { cutText } from '../../../kernel/cut-text.js';

const TEST_MS_MAX = 5_000;
const ERROR_CHARACTERS_MAX = 500;
const REPLY_BYTES_MAX = 16 * 1024;

/** `unsafe`: the guard of outgoing requests refuses the address. */
export type TestOutcome = Readonly<{ ok: true } | { ok: false; error: string; unsafe?: true }>;

export type Tested = Readonly<{ baseUrl: string; apiKey: string; upstreamModelId: string }>;

/** Tests a custom model by requesting a very short completion from its endpoint. */
@Injectable()
export class CustomModelTests {
  constructor(
    private readonly outgoing: OutgoingHttp,
    private readonly timing: Timing,
  ) {}

  /**
   * Sends `max_tokens`, which most endpoints know, and repeats the request with `max_completion_tokens` if the endpoint asks for
   * that.
   */
  async test(tested: Tested): Promise<TestOutcome> {
    const patience = this.timing.deadline(TEST_MS_MAX);
    const first = await this.ask(tested, { max_tokens: 1 }, patience);
    if (first.ok || !first.error.includes('max_completion_tokens')) return first;
    return this.ask(tested, { max_completion_tokens: 16 }, patience);
  }

  private async ask(
    { baseUrl, apiKey, upstreamModelId: model }: Tested,
    limit: object,
    patience: AbortSignal,
  ): Promise<TestOutcome> {
    const messages = [{ role: 'user', content: 'hi' }];
    try {
      await this.outgoing.check(baseUrl);
      const reply = await this.outgoing.fetch(`${withoutTrailing(baseUrl, '/')}/chat/completions`, {
        method: 'POST',
        redirect: 'manual',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages, ...limit, stream: false }),
        signal: patience,
      });
      if (reply.ok) {
        await reply.body?.cancel();
        return { ok: true };
      }
      const error = (await errorIn(reply)).replaceAll(apiKey, '[secret]');
      return { ok: false, error: cutText(error, ERROR_CHARACTERS_MAX) };
    } catch (error) {
      if (patience.aborted) return { ok: false, error: `The endpoint did not answer within ${TEST_MS_MAX / 1_000} seconds.` };
      return failureIn(error);
    }
  }
}

/** The endpoint's error text, if it is JSON. The caller must not read other bodies, which may come from any server. */
async function errorIn(reply: Response): Promise<string> {
  const status = `The endpoint answered with HTTP ${reply.status}`;
  if (reply.status < 400) {
    await reply.body?.cancel();
    return `${status}: redirects are not followed.`;
  }
  if (!/^application\/json\b/i.test(reply.headers.get('content-type') ?? '')) {
    await reply.body?.cancel();
    return `${status}.`;
  }
  return `${status}: ${await headOf(reply)}`;
}

async function headOf(reply: Response): Promise<string> {
  const body: AsyncIterable<Uint8Array> | null = reply.body;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    pieces.push(piece);
    bytes += piece.byteLength;
    if (bytes >= REPLY_BYTES_MAX) break;
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** The causes contain no part of the request but its host. @throws errors that are not failures of the endpoint */
function failureIn(error: unknown): TestOutcome {
  const cause = error instanceof TypeError ? error.cause : error;
  if (cause instanceof AddressRefused) return { ok: false, error: cause.message, unsafe: true };
  if (cause instanceof OutgoingFailed) return { ok: false, error: cause.message };
  throw error;
}
