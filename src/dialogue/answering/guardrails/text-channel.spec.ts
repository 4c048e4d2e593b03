import { expect, it } from '@jest/globals';
import type { GuardrailSpan } from '../../../resources/guardrails/guardrail-decisions.policy.js';
import { HELD_CHARACTERS_MAX, TextChannel } from './text-channel.js';

const unblocked = (): never => {
  throw new Error('Nothing blocks here.');
};

/** A check that matches from `<` to the next `>`. */
const angled = (text: string) => {
  const start = text.indexOf('<');
  if (start === -1) return { spans: [], decidedTo: text.length, decisions: [] };
  const close = text.indexOf('>', start);
  const end = close === -1 ? text.length : close + 1;
  const span: GuardrailSpan = { start, end, mask: '#', action: 'redact', check: 'secrets', category: 'X', open: close === -1 };
  return { spans: [span], decidedTo: span.open ? start : end, decisions: [] };
};

it('a match without an end is masked once, and at most HELD_CHARACTERS_MAX of its text are held', () => {
  let scans = 0;
  const channel = new TextChannel(
    (text, before) => {
      scans++;
      // A match that began in the shown text continues in the held text.
      const shift = before.lastIndexOf('<') > before.lastIndexOf('>') ? 1 : 0;
      const { spans, ...found } = angled('<'.repeat(shift) + text);
      return {
        ...found,
        decidedTo: Math.max(0, found.decidedTo - shift),
        spans: spans.map((span) => ({ ...span, start: Math.max(0, span.start - shift), end: span.end - shift })),
      };
    },
    unblocked,
    HELD_CHARACTERS_MAX * 2,
  );
  let shown = channel.push('Before <');
  for (let sent = 0; sent < HELD_CHARACTERS_MAX * 1.5; sent += 1_000) {
    shown += channel.push('x'.repeat(1_000));
    expect(channel.heldCharacters).toBeLessThanOrEqual(HELD_CHARACTERS_MAX);
  }
  shown += channel.push('x> After') + channel.end();
  expect(shown).toBe('Before # After');
  expect(scans).toBeLessThan(40);
});

it('a seam releases complete sentences and holds the unfinished one', () => {
  const nothing = (text: string) => ({ spans: [], decidedTo: Math.max(0, text.length - 20), decisions: [] });
  const seam = (text: string) => {
    const channel = new TextChannel(nothing, unblocked, 20);
    return channel.push(text) + channel.seam();
  };
  expect(seam('I look.')).toBe('I look.');
  expect(seam('I look. Now')).toBe('I look.');
  expect(seam('First\nSecond')).toBe('First\n');
  expect(seam('Now')).toBe('');
  expect(seam('It costs 4.')).toBe('');
  expect(seam('a.b@c')).toBe('');
});
