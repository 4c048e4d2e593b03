import { describe, expect, it } from '@jest/globals';
import { codePolicy, CodeGuardrails } from '../../../../test/support/guardrails.js';
import type { GuardrailAction } from '../../../resources/guardrails/guardrail.policy.js';
import { SignInRequired, ToolFailed, type ToolReport } from '../../../resources/tools/toolbox/tool-kind.port.js';
import type { LongWork } from './background-calls.port.js';
import { WITHHELD } from '../../../resources/guardrails/guardrail.policy.js';
import { TurnGuard } from './turn-guard.js';

const SECRET = /CODE-[0-9]{4}/;
const signal = new AbortController().signal;
const guard = (stage: 'retrieval' | 'tool_result', action: GuardrailAction) =>
  new TurnGuard(new CodeGuardrails(), codePolicy({ [stage]: action }), signal);

describe('the guarded work of a tool', () => {
  const reports: ToolReport[] = [];
  const run = (action: GuardrailAction, work: LongWork, isSearch = false) =>
    guard('tool_result', action).toolWork(work, isSearch)(signal, {
      begun: signal,
      msMax: 1,
      report: (said) => void reports.push(said),
    });

  it('masks each text of its result and changes nothing else', async () => {
    const result = { 'CODE-1234': ['CODE-5678', 7, null, true, { a: 'b' }], n: 1.5 };
    expect(await run('redact', async () => result)).toEqual({ '[CODE]': ['[CODE]', 7, null, true, { a: 'b' }], n: 1.5 });
    const harmless = { a: null };
    expect(await run('redact', async () => harmless)).toEqual(harmless);
    expect(await run('redact', async () => null)).toBeNull();
  });

  it('masks its failures and progress reports too', async () => {
    reports.length = 0;
    const failing: LongWork = async (_, background) => {
      background!.report({ progress: 1, message: 'Now CODE-1234' });
      throw new ToolFailed('No CODE-1234 here.');
    };
    await expect(run('redact', failing)).rejects.toThrow(new ToolFailed('No [CODE] here.'));
    await expect(run('block', failing)).rejects.toThrow('withheld by a content policy');
    expect(reports).toEqual([
      { progress: 1, message: 'Now [CODE]' },
      { progress: 1, message: WITHHELD },
    ]);
  });

  it('still throws that a sign-in is required', async () => {
    const asking = run('redact', () => Promise.reject(new SignInRequired('Sign in.')));
    await expect(asking).rejects.toBeInstanceOf(SignInRequired);
  });

  it('is also checked at the retrieval stage if the tool searches', async () => {
    const work = guard('retrieval', 'redact').toolWork(async () => ({ sources: [{ text: 'CODE-1234' }] }), true);
    expect(await work(signal)).toEqual({ sources: [{ text: '[CODE]' }] });
  });
});

it('the arguments of a call are masked, as one text if they are nested deeper than those of any call that runs', () => {
  const masking = new TurnGuard(new CodeGuardrails(), codePolicy({ output: 'redact' }), signal);
  const within = (text: string, levels: number) => `{"a":${'['.repeat(levels)}"${text}"${']'.repeat(levels)}}`;
  for (const levels of [1, 100_000]) {
    expect(masking.callArguments(within('CODE-1234', levels)) === within('[CODE]', levels)).toBe(true);
  }
  expect(masking.callArguments('{"id":1234567890123456789}')).toBe('{"id":"1234567890123456789"}');
});

describe('retrieved texts', () => {
  const chunk = { text: 'CODE-1234', title: 'Codes', source: 's', filename: 'f', sourceId: 'x', score: 1, tokens: 3 };
  const harmless = { ...chunk, text: 'Nothing' };

  it('are masked', async () => {
    expect(await guard('retrieval', 'redact').documents([chunk, harmless])).toEqual([{ ...chunk, text: '[CODE]' }, harmless]);
  });

  it('are withheld for each blocked document, with its title and file name', async () => {
    const named = { ...harmless, title: 'CODE-1234' };
    const [one, other, third] = await guard('retrieval', 'block').documents([chunk, harmless, named]);
    expect([one!.text, one!.title, other, third!.title]).toEqual([WITHHELD, WITHHELD, harmless, WITHHELD]);
  });

  it('are masked in attached files', async () => {
    const image = { type: 'image', dataUrl: 'data:CODE-1234' } as const;
    const attached = {
      parts: [{ type: 'text', text: 'CODE-1234' } as const, image],
      documents: [{ title: 'f', text: 'CODE-1234', source: 'f' }],
      tokens: 1,
      notices: [],
    };
    const { parts, documents } = await guard('retrieval', 'redact').attached(attached);
    expect([parts, documents[0]!.text]).toEqual([[{ type: 'text', text: '[CODE]' }, image], '[CODE]']);
    expect(JSON.stringify((await guard('retrieval', 'block').attached(attached)).parts[0])).not.toMatch(SECRET);
  });
});
