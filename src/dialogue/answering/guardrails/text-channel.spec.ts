import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { GuardrailSpan } from '../../../resources/guardrails/guardrail-decisions.policy.js';
import { HELD_CHARACTERS_MAX, HELD_GROWTH_MIN, HELD_OFTEN_SCANNED_MAX, TextChannel } from './text-channel.js';

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

/** A check that finds all matches from `<` to the next `>`. */
const allAngled = (text: string) => {
  const spans = Array.from(text.matchAll(/<[^>]*>?/g), ({ 0: match, index: start }): GuardrailSpan => {
    const open = !match.endsWith('>');
    return { start, end: start + match.length, mask: '#', action: 'redact', check: 'secrets', category: 'X', open };
  });
  return { spans, decidedTo: spans.at(-1)?.open ? spans.at(-1)!.start : text.length, decisions: [] };
};
const masked = (text: string) => text.replaceAll(/<[^>]*>?/g, '#');

it('a long match is scanned again only when it has grown by HELD_GROWTH_MIN, also by seams', () => {
  let scans = 0;
  const channel = new TextChannel((text) => (scans++, allAngled(text)), unblocked, 0);
  let shown = channel.push(`Before <${'x'.repeat(HELD_OFTEN_SCANNED_MAX)}`);
  for (let sent = HELD_OFTEN_SCANNED_MAX; sent < HELD_CHARACTERS_MAX - 2; sent++) shown += channel.push('x') + channel.seam();
  const scansMax = Math.log(HELD_CHARACTERS_MAX / HELD_OFTEN_SCANNED_MAX) / Math.log(1 + HELD_GROWTH_MIN) + 2;
  expect(scans).toBeLessThan(2 * scansMax);
  expect(shown + channel.push('>') + channel.push(' After') + channel.end()).toBe('Before # After');
});

it('a short match is scanned with every delta, also after a long one', () => {
  const channel = new TextChannel(allAngled, unblocked, 0);
  channel.push(`<${'x'.repeat(HELD_CHARACTERS_MAX / 2)}`);
  expect(channel.push(`${'x'.repeat(HELD_CHARACTERS_MAX / 4)}>`)).toBe('#');
  expect(['a', '<', 'b', '>', 'c'].map((delta) => channel.push(delta))).toEqual(['a', '', '', '#', 'c']);
});

it('text with long matches is shown masked in any deltas, and no text of a match is shown before', () => {
  const parts = fc.array(fc.constantFrom('<', '>', 'y. ', 'z\n', 'x'.repeat(90), 'x'.repeat(900)), { maxLength: 30 });
  const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 400 }), fc.boolean()), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(parts, steps, (written, sizes) => {
      const text = written.join('').slice(0, HELD_CHARACTERS_MAX);
      const channel = new TextChannel(allAngled, unblocked, 0);
      let shown = '';
      for (let at = 0, step = 0; at < text.length; step++) {
        const [size, hasSeam] = sizes[step % sizes.length]!;
        shown += channel.push(text.slice(at, at + size)) + (hasSeam ? channel.seam() : '');
        at += size;
        expect(masked(text).startsWith(shown)).toBe(true);
      }
      expect(shown + channel.end()).toBe(masked(text));
    }),
  );
});
