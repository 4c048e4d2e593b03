import { describe, expect, it } from '@jest/globals';
import { NestLog, openLog, withoutSecrets } from './log.js';

function capture(format: 'json' | 'pretty' = 'json', level = 'info') {
  const lines: string[] = [];
  const log = openLog({ level, format, destination: { write: (line) => void lines.push(line) } });
  return { log, nest: new NestLog(log), lines, entries: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe('the log', () => {
  it('removes credentials from fields, texts and errors', () => {
    const { log, lines } = capture();
    log.info({ req: { headers: { authorization: 'Bearer hidden1', cookie: 'hidden2' } }, api_key: 'hidden3' }, 'asked');
    log.info('GET /stream?api_key=hidden4&x=1 with Bearer hidden5 and {"token": "hidden6"} at postgres://me:hidden7@host/db');
    log.error({ err: Object.assign(new Error('at ?token=hidden8'), { parameters: ['hidden9'], query: 'hidden10' }) }, 'failed');
    expect(lines).toHaveLength(3);
    expect(lines.join()).not.toContain('hidden');
    expect(lines[1]).toContain('&x=1');
  });

  it('writes an error with its causes', () => {
    const { log, entries } = capture();
    log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'failed');
    expect(entries()[0]).toMatchObject({ level: 'error', msg: 'failed', err: { message: 'outer', cause: { message: 'inner' } } });
  });

  it('writes the messages of Nest with their context', () => {
    const { nest, entries } = capture('json', 'trace');
    nest.log('started', 'Http');
    nest.log('so many routes', 'RouterExplorer');
    nest.error('failed', 'Error: why\n at x', 'Http');
    nest.warn(new Error('odd'), 'Http');
    nest.error('Error: in use', undefined, 'Http');
    nest.verbose({ frames: 3 }, 'Stream');
    expect(entries()).toMatchObject([
      { level: 'info', msg: 'started', context: 'Http' },
      { level: 'debug', msg: 'so many routes', context: 'RouterExplorer' },
      { level: 'error', msg: 'failed', context: 'Http', stack: 'Error: why\n at x' },
      { level: 'warn', msg: 'odd', context: 'Http', err: { message: 'odd' } },
      { level: 'error', msg: 'Error: in use', context: 'Http' },
      { level: 'trace', frames: 3, context: 'Stream' },
    ]);
    expect(entries()[4]).not.toHaveProperty('more');
  });

  it('writes nothing below its level, and readable text when pretty', () => {
    const { log, lines } = capture('pretty');
    log.debug('not this');
    log.info('but this');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('but this');
  });
});

it('does not change text without secrets', () => {
  expect(withoutSecrets('GET /stream?x=1 took 3 ms')).toBe('GET /stream?x=1 took 3 ms');
});
