import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { codePolicy, CodeGuardrails } from '../../../../test/support/guardrails.js';
import { recordOf } from '../../conversation/tool-call.policy.js';
import type { GuardrailControl, GuardrailPolicy } from '../../../resources/guardrails/guardrail.policy.js';
import { ModelFailed } from '../../../resources/models/model/language-model.port.js';
import type { AnswerDelta } from '../loop/answer-delta.js';
import { GuardrailBlock } from '../loop/guardrail-block.js';
import { type AnswerContext, GuardedAnswer } from './guarded-answer.js';
import { TurnGuard } from '../loop/turn-guard.js';

const CONTEXT: AnswerContext = { question: 'Which code?', schema: null, before: { answer: '', thought: '' } };
const REDACTING = codePolicy({ output: 'redact' });
const BLOCKING = codePolicy({ output: 'block' });
const SECRET = /CODE-[0-9]{4}/;
const GROUNDED: GuardrailControl = {
  check: 'groundedness',
  stage: 'output',
  action: 'block',
  settings: { min_overlap: 0.3, min_words: 1, require_retrieval: false },
};

const text = (words: string): AnswerDelta => ({ type: 'text', text: words });
const thought = (words: string): AnswerDelta => ({ type: 'thought', text: words });
const call = (args: Readonly<Record<string, unknown>> = {}): AnswerDelta => ({
  type: 'tool-call',
  record: recordOf(
    { callId: 'c1', toolId: 't', toolName: 'api_tool', actionName: 'look', name: 'look', arguments: args, argumentsSha256: '' },
    { status: 'pending' },
  ),
});

/** Guards the deltas and returns the shown deltas, the decisions, and the error that ended the answer. */
async function guarded(
  deltas: Iterable<AnswerDelta> | AsyncIterable<AnswerDelta>,
  policy: GuardrailPolicy,
  more: Partial<AnswerContext> = {},
) {
  const guard = new TurnGuard(new CodeGuardrails(), policy, new AbortController().signal);
  const shown: AnswerDelta[] = [];
  let thrown: unknown;
  try {
    const all = (async function* () {
      yield* deltas;
    })();
    for await (const delta of new GuardedAnswer(guard, { ...CONTEXT, ...more }).through(all)) shown.push(delta);
  } catch (error) {
    thrown = error;
  }
  const said = (type: 'text' | 'thought') => shown.flatMap((delta) => (delta.type === type ? [delta.text] : [])).join('');
  return { shown, thrown, answer: said('text'), thoughts: said('thought'), decisions: guard.decisions };
}

/** Splits a text at the cuts. */
const pieces = (whole: string, cuts: readonly number[]): string[] => {
  const places = [...new Set([0, ...cuts.map((cut) => cut % (whole.length + 1)), whole.length])].sort((a, b) => a - b);
  return places.slice(1).map((place, index) => whole.slice(places[index], place));
};

const words = fc.array(fc.constantFrom('CODE-1234', 'CODE-', '12', '. ', ' and ', 'CODE-99', 'é\n', 'CO'), { maxLength: 12 });
const cuts = fc.array(fc.nat(200), { maxLength: 40 });

describe('a guarded answer', () => {
  it('contains no match, however it is split into tokens', async () => {
    await fc.assert(
      fc.asyncProperty(words, cuts, async (parts, places) => {
        const whole = parts.join('');
        const { answer } = await guarded(pieces(whole, places).map(text), REDACTING);
        expect(answer).toBe(whole.replaceAll(new RegExp(SECRET, 'g'), '[CODE]'));
      }),
    );
  });

  it('is blocked by the first match, and shows no text of the match', async () => {
    await fc.assert(
      fc.asyncProperty(words, cuts, async (parts, places) => {
        const whole = parts.join('');
        const at = whole.search(SECRET);
        const { answer, thrown } = await guarded(pieces(whole, places).map(text), BLOCKING);
        expect(thrown instanceof GuardrailBlock).toBe(at !== -1);
        expect(whole.slice(0, at === -1 ? undefined : at)).toContain(answer);
      }),
    );
  });

  it('contains no complete match if calls, thoughts and checkpoints separate its tokens', async () => {
    const between = fc.constantFrom<AnswerDelta>(call(), thought('Hm'), { type: 'checkpoint' }, { type: 'round-over' });
    await fc.assert(
      fc.asyncProperty(words, cuts, fc.array(fc.tuple(fc.nat(40), between), { maxLength: 8 }), async (parts, places, others) => {
        const deltas: AnswerDelta[] = pieces(parts.join(''), places).map(text);
        for (const [place, other] of others) deltas.splice(place % (deltas.length + 1), 0, other);
        const { answer } = await guarded(deltas, REDACTING);
        expect(answer).not.toMatch(SECRET);
      }),
    );
  });

  it('is shown unchanged token by token and checked if the policy only monitors', async () => {
    await fc.assert(
      fc.asyncProperty(words, cuts, async (parts, places) => {
        const tokens = pieces(parts.join(''), places);
        const { shown, decisions } = await guarded(tokens.map(text), { ...BLOCKING, mode: 'monitor_only' });
        expect(shown).toEqual(tokens.map(text));
        const matches = parts.join('').match(new RegExp(SECRET, 'g'))?.length ?? 0;
        expect(decisions.map(({ action, matchCount }) => [action, matchCount])).toEqual(matches === 0 ? [] : [['flag', matches]]);
      }),
    );
  });

  it('counts each match once', async () => {
    const { decisions } = await guarded([...'A CODE-1234 and a CODE-5678, that is all.'].map(text), REDACTING);
    expect(decisions).toMatchObject([{ stage: 'output', check: 'secrets', action: 'redact', matchCount: 2 }]);
  });

  it.each(['monitor_only', 'scan_all'] as const)(
    'leaves the arguments of a call to the check before it runs, if it only flags: %s',
    async (mode) => {
      const flagging = { ...codePolicy({ output: 'flag' }), mode };
      const { shown, decisions } = await guarded([call({ code: 'CODE-1234' }), call({ code: 'CODE-1234' })], flagging);
      expect([shown.length, decisions]).toEqual([2, []]);
    },
  );

  it('shows complete sentences before a call and the rest after it', async () => {
    const { shown } = await guarded([text('Done. CO'), call(), text('DE-1234')], REDACTING);
    expect(shown).toEqual([text('Done.'), call(), text(' [CODE]')]);
  });

  it('masks the rest of a match whose beginning was shown before the run', async () => {
    const { answer } = await guarded([text('34 it is.')], REDACTING, { before: { answer: 'CODE-12', thought: '' } });
    expect(answer).toBe('[CODE] it is.');
  });

  it('masks thoughts, notices, arguments of calls and progress frames', async () => {
    const step = { type: 'workflow_step', node_id: 'n', node_type: 'agent', node_title: 'CODE-1234', status: 'failed' } as const;
    const { shown, thoughts } = await guarded(
      [
        thought('CODE-'),
        thought('1234 '),
        call({ q: 'CODE-1234', n: [{ 'CODE-1234': 1 }] }),
        { type: 'notice', text: 'CODE-1234' },
        { type: 'progress', frame: { ...step, state_delta: { a: 'CODE-1234' }, error: 'CODE-1234' } },
      ],
      REDACTING,
    );
    expect(thoughts).toBe('[CODE] ');
    expect(JSON.stringify(shown)).not.toMatch(SECRET);
    expect(shown).toContainEqual(call({ q: '[CODE]', n: [{ '[CODE]': 1 }] }));
  });

  it('shows its held text and a masked error when the model fails', async () => {
    const failing = async function* (): AsyncGenerator<AnswerDelta> {
      yield text('So far, CODE-1234');
      throw new ModelFailed('bad-reply', 'It said CODE-1234.', false);
    };
    const { answer, thrown } = await guarded(failing(), REDACTING);
    expect(answer).toBe('So far, [CODE]');
    expect(thrown).toMatchObject({ failure: 'bad-reply', message: 'It said [CODE].' });
  });

  it('has its matches recorded also if the model fails or the reader stops it', async () => {
    const failing = async function* (): AsyncGenerator<AnswerDelta> {
      yield text('A CODE-1234 and a CODE-5678, that is all of it.');
      throw new ModelFailed('bad-reply', 'It failed.', false);
    };
    for (const [policy, action] of [
      [REDACTING, 'redact'],
      [{ ...BLOCKING, mode: 'monitor_only' }, 'flag'],
    ] as const) {
      expect((await guarded(failing(), policy)).decisions).toMatchObject([{ check: 'secrets', action, matchCount: 2 }]);
      const guard = new TurnGuard(new CodeGuardrails(), policy, new AbortController().signal);
      for await (const _ of new GuardedAnswer(guard, CONTEXT).through(failing())) break;
      expect(guard.decisions).toMatchObject([{ check: 'secrets', action, matchCount: 2 }]);
    }
  });

  it('masks the values of a structured answer', async () => {
    const schema = { type: 'object', properties: { why: { type: 'string' } } };
    const { answer } = await guarded([text('{"why": "\\u0043ODE-'), text('1234"}')], REDACTING, { schema });
    expect(JSON.parse(answer)).toEqual({ why: '[CODE]' });
  });
});

describe('an answer with a check of its complete text', () => {
  const GROUNDING = { ...REDACTING, controls: [...REDACTING.controls, GROUNDED] };

  it('is shown masked and in one piece after the check', async () => {
    const { shown } = await guarded([text('CODE-'), text('1234 '), call(), text('')], GROUNDING);
    expect(shown).toEqual([call(), text('[CODE] ')]);
  });

  it('shows no text if it is blocked', async () => {
    const { shown, thrown } = await guarded([thought('Well'), text('far too '), text('many words')], GROUNDING);
    expect(shown).toEqual([]);
    expect(thrown).toMatchObject({
      message: 'I cannot say that.',
      stopped: { stage: 'output', checks: ['groundedness'], categories: ['UNGROUNDED'] },
    });
  });

  it('is shown while it is written if the check only flags', async () => {
    const controls = [...REDACTING.controls, { ...GROUNDED, action: 'flag' } as const];
    const { shown, decisions, thrown } = await guarded([text('far too many '), text('words')], { ...REDACTING, controls });
    expect(thrown).toBeUndefined();
    expect(shown[0]).toEqual(text('far t'));
    expect(decisions).toMatchObject([{ check: 'groundedness', action: 'flag' }]);
  });
});
