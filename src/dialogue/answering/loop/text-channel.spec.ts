import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { GuardrailSpan, OpenMatch } from '../../../resources/guardrails/guardrail-decisions.policy.js';
import {
  HELD_CHARACTERS_MAX,
  HELD_GROWTH_MIN,
  HELD_OFTEN_SCANNED_MAX,
  MATCH_BEGINNING_MIN,
  TextChannel,
} from './text-channel.js';

const unblocked = (): never => {
  throw new Error('Nothing blocks here.');
};

/** A check that finds all matches from `<` to the next `>`, also those that begin in the shown text. */
const allAngled = (text: string, before = '') => {
  const spans = Array.from((before + text).matchAll(/<[^>]*>?/g), ({ 0: match, index }): GuardrailSpan => {
    const [start, end] = [Math.max(0, index - before.length), index + match.length - before.length];
    return { start, end, mask: '#', action: 'redact', check: 'secrets', category: 'X', open: !match.endsWith('>') };
  }).filter(({ end }) => end > 0);
  return { spans, decidedTo: spans.at(-1)?.open ? spans.at(-1)!.start : text.length, decisions: [] };
};

it('a match without an end is masked once, and at most HELD_CHARACTERS_MAX of its text are held', () => {
  let scans = 0;
  const channel = new TextChannel((text, before) => (scans++, allAngled(text, before)), unblocked, 1);
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
  const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 400 }), fc.constantFrom('none', 'seam', 'end')), {
    minLength: 1,
    maxLength: 20,
  });
  fc.assert(
    fc.property(parts, steps, (written, sizes) => {
      const text = written.join('');
      const channel = new TextChannel(allAngled, unblocked, 1);
      let shown = '';
      for (let at = 0, step = 0; at < text.length; step++) {
        const [size, after] = sizes[step % sizes.length]!;
        shown += channel.push(text.slice(at, at + size)) + (after === 'none' ? '' : channel[after]());
        at += size;
        expect(masked(text).startsWith(shown)).toBe(true);
      }
      expect(shown + channel.end()).toBe(masked(text));
    }),
  );
});

it('a match of which the beginning was shown masked stays a match, and little of it is scanned again', () => {
  let scannedMax = 0;
  const check = (text: string, before: string) => {
    scannedMax = Math.max(scannedMax, before.length + text.length);
    return allAngled(text, before);
  };
  const channel = new TextChannel(check, unblocked, 1);
  let shown = channel.push('Before <\n') + channel.seam();
  for (let line = 0; line < 1_000; line++) shown += channel.push('line\n') + channel.seam();
  expect(shown + channel.push('> After') + channel.end()).toBe('Before # After');
  expect(scannedMax).toBeLessThan(4 * MATCH_BEGINNING_MIN);
});

it('a match at the end of the shown text is named by its category, after which another channel masks its rest', () => {
  const open = { check: 'secrets', category: 'X' } as const;
  const beginningOf = (match: OpenMatch) => (match.category === 'X' ? '<' : undefined);
  const channel = (before?: string, match?: OpenMatch) => new TextChannel(allAngled, unblocked, 1, before, beginningOf, match);
  const first = channel();
  expect([first.add('Before <xx'), first.openMatch]).toEqual(['Before #', open]);
  const second = channel('Before #', first.openMatch);
  expect(second.openMatch).toEqual(open);
  expect([second.add('xx'), second.openMatch]).toEqual(['', open]);
  expect([second.add('x> After'), second.openMatch]).toEqual([' After', undefined]);
  expect(channel('Before #').add('xx>')).toBe('xx>');
  expect(channel('Before #', { ...open, category: 'Y' }).add('xx>')).toBe('xx>');
});
