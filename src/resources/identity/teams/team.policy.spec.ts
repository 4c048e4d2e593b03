import { expect, it } from '@jest/globals';
import { slugOf } from './team.policy.js';

it.each([
  ['Büro für Fragen', 'buro-fur-fragen-7f1c2a'],
  ['  R&D -- Berlin ', 'r-d-berlin-7f1c2a'],
  ['質問', 'team-7f1c2a'],
  ['x'.repeat(100), `${'x'.repeat(40)}-7f1c2a`],
])('the slug of %j is %j', (name, slug) => {
  expect(slugOf(name, '7f1c2a34-9d5e-4b6a-8c7d-1e2f3a4b5c6d')).toBe(slug);
});
