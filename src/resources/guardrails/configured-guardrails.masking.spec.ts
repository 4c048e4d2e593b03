import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/support/any-character.js';
import { guardrails, MASKING_POLICY, maskingControls, policyOf } from '../../../test/support/configured-guardrails.js';
import { decisionsOf, maskSpans } from './guardrail-decisions.policy.js';

const SECRETS = [
  'ann.lee@mail.example.org',
  '4111 1111 1111 1111',
  '123-45-6789',
  '+49 151 12345678',
  'DE89 3704 0044 0532 0130 00',
  'AKIAIOSFODNN7EXAMPLE',
  'ghp_0123456789abcdefghijABCDEFGHIJ012345',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
  `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcw\n'.repeat(12)}-----END PRIVATE KEY-----`,
  'postgres://ann:hunter2secret@',
  'Project Zebra',
  'https://tracker.test/pixel.png?q=1',
  'bad.example.com',
] as const;

/** Replaces characters by variants that look the same. */
const disguised = (text: string) =>
  fc.array(fc.nat(11), { minLength: text.length, maxLength: text.length }).map((choices) =>
    Array.from(text, (character, at) => {
      const code = character.charCodeAt(0);
      if (choices[at] === 0) return `${character}\u200b`;
      if (choices[at] === 1) return `\u2060${character}\u00ad`;
      if (choices[at] === 2 && code > 0x20 && code < 0x7f) return String.fromCharCode(code + 0xfee0);
      if (choices[at] === 3 && character >= '0' && character <= '9') return String.fromCharCode(0x0660 + Number(character));
      return character;
    }).join(''),
  );
const secret = fc.constantFrom(...SECRETS).chain(disguised);
const innocent = fc.oneof(
  fc.constantFrom(
    'Lorem ipsum dolor sit amet.',
    'naïve Über 漢字',
    '\u0301',
    '😀',
    '\n\n',
    'x',
    '12',
    '(see above)',
    'cafe\u0301',
  ),
  fc.string({ unit: anyCharacter, maxLength: 12 }).filter((text) => !/[\w@:/+.-]/.test(text.normalize('NFKC'))),
);
/** Texts that contain secrets; `true` marks a secret. */
const story = fc
  .array(fc.tuple(innocent, secret), { minLength: 1, maxLength: 4 })
  .map((parts) =>
    parts.flatMap(([text, hidden]) => [[`${text} `, false] as const, [hidden, true] as const, [' ', false] as const]),
  );

describe('masking', () => {
  it('removes every character of a match and keeps every other character', () => {
    fc.assert(
      fc.property(story, (parts) => {
        const text = parts.map(([part]) => part).join('');
        const { spans } = guardrails.localScan(MASKING_POLICY, 'output', text);
        let at = 0;
        for (const [part, isSecret] of parts) {
          const [start, end] = [at, at + part.length];
          at = end;
          // Invisible characters before and after a match may stay.
          const shownStart = start + part.length - part.replace(/^[\u200b\u2060\u00ad]+/, '').length;
          const shownEnd = start + part.replace(/[\u200b\u2060\u00ad]+$/, '').length;
          if (isSecret) {
            const covered = Array.from({ length: shownEnd - shownStart }, (_, offset) => shownStart + offset).every((index) =>
              spans.some((span) => span.start <= index && index < span.end),
            );
            expect([covered, part]).toEqual([true, part]);
          }
        }
        const innocentAlone = parts
          .filter(([, isSecret]) => !isSecret)
          .map(([part]) => part)
          .join('');
        for (const character of maskSpans(text, spans).replace(/\[[A-Z_]+\]|\*\*\*|<url redacted>/g, ''))
          if (!/[\p{Cf}]/u.test(character)) expect(innocentAlone).toContain(character);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a text that arrives in pieces', () => {
  /** The released text: after each piece, the part that is decided, masked. */
  function released(
    pieces: readonly string[],
    policy = MASKING_POLICY,
  ): Readonly<{ text: string; held: number; decisions: readonly unknown[] }> {
    let [text, before, rest, held] = ['', '', '', 0];
    const let_ = [];
    for (const [index, piece] of pieces.entries()) {
      rest += piece;
      const scan = guardrails.localScan(policy, 'output', rest, before);
      const to = index === pieces.length - 1 ? rest.length : scan.decidedTo;
      const spans = scan.spans.filter(({ start }) => start < to);
      for (const span of spans) expect(span.end).toBeLessThanOrEqual(to);
      text += maskSpans(rest.slice(0, to), spans);
      let_.push(...spans);
      before = (before + rest.slice(0, to)).slice(-256);
      rest = rest.slice(to);
      if (index < pieces.length - 1 && !scan.spans.some(({ end }) => end > to)) held = Math.max(held, rest.length);
    }
    return { text, held, decisions: decisionsOf('output', let_) };
  }

  const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 30 });
  const cut = (text: string, lengths: readonly number[]): readonly string[] => {
    const pieces: string[] = [];
    for (let at = 0, turn = 0; at < text.length; turn++) {
      const length = lengths[turn % lengths.length]!;
      pieces.push(text.slice(at, at + length));
      at += length;
    }
    return pieces;
  };

  it('is masked like the whole text, however it is cut', () => {
    fc.assert(
      fc.property(story, cuts, (parts, lengths) => {
        const text = parts
          .map(([part]) => part)
          .join('')
          .toWellFormed();
        const { spans } = guardrails.localScan(MASKING_POLICY, 'output', text);
        const whole = maskSpans(text, spans);
        const { text: pieced, decisions } = released(cut(text, lengths));
        expect(pieced).toBe(whole);
        expect(decisions).toEqual(decisionsOf('output', spans));
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ['an email address', 'pii', `${'a'.repeat(64)}@${'b'.repeat(63)}.co`],
    ['a card', 'pii', '4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1'],
    ['an IBAN', 'pii', 'MT84 MALT 0110 0001 2345 MTLC AST0 01S'],
    ['a phone number', 'pii', '+49 (0)151 - 1234 - 5678'],
    ['a password in a URL', 'secrets', `postgres://${'u'.repeat(64)}:${'p'.repeat(256)}@`],
    [
      'a private key',
      'secrets',
      `-----BEGIN ${'A'.repeat(20)} PRIVATE KEY BLOCK-----\n${'QUJD\n'.repeat(300)}-----END PRIVATE KEY BLOCK-----`,
    ],
    ['a token', 'secrets', `eyJhbGciOiJIUzI1NiJ9.${'e'.repeat(1500)}.${'s'.repeat(43)}`],
    ['a storage key', 'secrets', `AccountKey=${'k'.repeat(86)}==`],
    ['a listed term', 'denylist', 'project        zebra'],
    ['a URL', 'url', `https://user:${'p'.repeat(400)}@tracker.test/${'x'.repeat(1000)}`],
    ['a blocked host', 'url', `${'sub.'.repeat(58)}bad.example.com`],
  ])('never shows a part of the longest possible match: %s, with only the check %s', (_, check, longest) => {
    const policy = policyOf(maskingControls('output').filter((control) => control.check === check));
    const text = `Look: ${longest} and ${'so on. '.repeat(60)}`;
    const { text: shown } = released(cut(text, [1]), policy);
    expect(shown).toMatch(/^Look: (?:\[[A-Z_]+\]|\*\*\*|<url redacted>) and so on\. /);
    expect(shown).toBe(maskSpans(text, guardrails.localScan(policy, 'output', text).spans));
  });

  it('is held back by at most the look-back if nothing is found', () => {
    const { held } = released(Array(100).fill('Lorem ipsum. ') as string[]);
    expect(held).toBe(guardrails.lookBack(MASKING_POLICY, 'output'));
  });

  it('is masked from its start if a match begins in text that was already shown', () => {
    const scan = guardrails.localScan(MASKING_POLICY, 'output', '1111 1111 is it', 'My card: 4111 1111 ');
    expect(maskSpans('1111 1111 is it', scan.spans)).toBe('[CREDIT_CARD] is it');
  });
});
