import { describe, expect, it } from '@jest/globals';
import { cpuMsOf } from '../../../../test/support/cpu-time.js';
import { DETECTORS } from '../../../../test/support/detectors.js';
import type { Detector } from './detector.js';
import { FoldedText } from './folded-text.js';

describe('a hostile text', () => {
  const LENGTH = 200_000;
  const UNITS = [
    ...[
      'a',
      '1',
      ' ',
      '@',
      '.',
      '-',
      '+',
      '(',
      '/',
      ':',
      '\u200b',
      '\u0301',
      'é',
      '１',
      '\n',
      'eyJ',
      'eyJhbGciOi',
      '1 ',
      '1-',
      '1.',
    ],
    ...[
      'a@',
      'a.',
      '@a.',
      'a@a.',
      '+1 (415) ',
      '001 ',
      '415-555-',
      'DE89 ',
      'GB82WEST',
      'a:',
      'a://',
      'a://b:',
      'http://',
      '//',
      'www.',
    ],
    ...[
      '-----BEGIN PRIVATE KEY-----',
      '-----BEGIN ',
      'ignore ',
      'ignore all ',
      'you are now ',
      'send ',
      'reveal your ',
      '<|',
      '[',
      'sk-',
    ],
    ...[
      'sk-ant-',
      'ghp_',
      'AKIA',
      'SG.a',
      'xoxb-',
      'ecretAccessKey ',
      'AccountKey=',
      'project ',
      'Project Zebra',
      'ß',
      'а',
      'aaaaa ',
    ],
  ];

  /** Linear work took at most 1.8 s (telephone numbers) and mostly less than 0.1 s of CPU time; quadratic work takes 20 s or more. */
  const LINEAR_CPU_MS_MAX = 5000;

  const takesLong = (detector: Detector, unit: string): boolean => {
    const text = unit.repeat(Math.ceil(LENGTH / unit.length));
    const search = () => {
      const folded = FoldedText.of(text, detector.ignoresCase);
      detector.find(folded.text);
      detector.pendingFrom?.(folded.text);
    };
    return cpuMsOf(search) > LINEAR_CPU_MS_MAX;
  };

  it.each(Object.entries(DETECTORS))('takes %s time proportional to its length', (_, detector) => {
    // A busy machine makes some measurements longer, but hardly all of them.
    const isQuadratic = (unit: string) => [1, 2, 3].every(() => takesLong(detector, unit));
    expect(UNITS.filter(isQuadratic)).toEqual([]);
  });
});
