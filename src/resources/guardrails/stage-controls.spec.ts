import { expect, it } from '@jest/globals';
import { policyOf } from '../../../test/support/configured-guardrails.js';
import { stageControls } from './stage-controls.js';

it('equal denylists of several turns are prepared once', () => {
  const detectorOf = (terms: readonly string[]) => {
    const denied = { check: 'denylist', stage: 'output', action: 'redact', settings: { terms, match: 'word' } };
    return stageControls(policyOf([denied]), 'output').spans[0]!.detector;
  };
  expect(detectorOf(['zebra'])).toBe(detectorOf(['zebra']));
  expect(detectorOf(['zebra'])).not.toBe(detectorOf(['zebu']));
});
