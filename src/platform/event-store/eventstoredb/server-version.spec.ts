import { expect, it } from '@jest/globals';
import { versionWarning } from './server-version.js';

it.each([
  ['24.2.0', undefined],
  ['24.2.0.1234', undefined],
  ['23.10.6', /23\.10\.6 is older than the line 24\.2/],
  ['24.1.9', /older/],
  ['24.10.4', /24\.10\.4 is newer/],
  ['25.0.1', /newer/],
  ['unknown', /does not report its version \("unknown"\)/],
])('for a server of version %s the warning is %s', (version, warning) => {
  if (warning === undefined) expect(versionWarning(version)).toBeUndefined();
  else expect(versionWarning(version)).toMatch(warning);
});
