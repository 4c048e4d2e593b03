import { expect, it } from '@jest/globals';
import { freeSlug, slugOf } from './slug.policy.js';

it.each([
  ['Guide to Docs', 'guide-to-docs'],
  ['  Guide! ', 'guide'],
  ['Über 2 Ecken', 'ber-2-ecken'],
  ['…', 'agent'],
  ['', 'agent'],
])('the slug of %p is %s', (text, slug) => expect(slugOf(text)).toBe(slug));

it('a slug has at most 80 characters and does not end with a hyphen', () => {
  expect(slugOf('x'.repeat(81))).toBe('x'.repeat(80));
  expect(slugOf(`${'x'.repeat(79)} y`)).toBe('x'.repeat(79));
});

it('a slug that is taken gets the first free number from 2 on', () => {
  const taken = new Set(['guide', 'guide-2', 'guide-4']);
  expect(freeSlug('guide', (slug) => taken.has(slug))).toBe('guide-3');
  expect(freeSlug('other', (slug) => taken.has(slug))).toBe('other');
});
