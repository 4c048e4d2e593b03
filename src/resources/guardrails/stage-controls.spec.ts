import { expect, it } from '@jest/globals';
import { policyOf } from '../../../test/support/configured-guardrails.js';
import { DENYLIST_CHARACTERS_KEPT_MAX, stageControls } from './stage-controls.js';

function detectorOf(terms: readonly string[]) {
  const denied = { check: 'denylist', stage: 'output', action: 'redact', settings: { terms, match: 'word' } };
  return stageControls(policyOf([denied]), 'output').spans[0]!.detector;
}

it('equal denylists of several turns are prepared once', () => {
  expect(detectorOf(['zebra'])).toBe(detectorOf(['zebra']));
  expect(detectorOf(['zebra'])).not.toBe(detectorOf(['zebu']));
});

it('the denylists that were not used for longest are prepared again, once others fill the cache', () => {
  const large = (list: number) => Array.from({ length: 500 }, (_, term) => `${list} ${term}`.padEnd(120, 'x'));
  const kept = detectorOf(large(0));
  expect(detectorOf(large(0))).toBe(kept);
  for (let list = 1; list * 500 * 120 <= DENYLIST_CHARACTERS_KEPT_MAX; list++) detectorOf(large(list));
  expect(detectorOf(large(0))).not.toBe(kept);
});
