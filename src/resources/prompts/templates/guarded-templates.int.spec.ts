import { afterAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../../test/support/eventually.js';
import { TemplateFailed } from './template-engine.port.js';
import type { GuardedProcess } from '../../../platform/sandbox/guarded-process.js';
import { GuardedTemplates } from './guarded-templates.js';

const engine = new GuardedTemplates({ deadlineMs: 1_000, outputCharactersMax: 100_000 });
afterAll(() => engine.close());

const failure = (template: string, context: object = {}) =>
  engine.render(template, context).then(
    () => 'rendered',
    (error: unknown) => (error instanceof TemplateFailed ? error.failure : error),
  );

const ENDLESS = '{% for i in range(90000) %}{% for j in range(90000) %}{% endfor %}{% endfor %}';

describe('a template', () => {
  it('reads its context and renders missing variables as empty', async () => {
    const template = '{% for d in source.documents %}{{ loop.index }}:{{ d.title }} {% endfor %}[{{ no.such.thing }}]';
    expect(await engine.render(template, { source: { documents: [{ title: 'A' }, { title: 'B' }] } })).toBe('1:A 2:B []');
  });

  it('reports to its author what is wrong with it', async () => {
    await expect(engine.render('{% if %}', {})).rejects.toThrow(/^The prompt template is not valid: /);
  });
});

describe('a hostile template', () => {
  it.each([
    `{{ ''.constructor.constructor('return process')() }}`,
    `{{ x['constructor']['constructor']('return 1')() }}`,
    `{{ x.__proto__.polluted }}{{ x.toString() }}`,
    `{{ range.constructor('return this')() }}`,
  ])('cannot reach the program: %s', async (template) => {
    expect(await failure(template, { x: { a: 1 } })).toBe('invalid');
  });

  it('sees no environment and no globals', async () => {
    expect(await engine.render('[{{ process }}{{ globalThis }}{{ require }}{{ env }}]', {})).toBe('[]');
  });

  it('that never ends is stopped', async () => expect(await failure(ENDLESS)).toBe('out-of-time'));

  it('that never ends does not delay other templates', async () => {
    const patient = new GuardedTemplates({ deadlineMs: 60_000 });
    const endless = patient.render(ENDLESS, {});
    expect(await Promise.race([endless, patient.render('{{ a }}', { a: 1 })])).toBe('1');
    await patient.close();
    await expect(endless).rejects.toMatchObject({ failure: 'closed' });
  });

  it.each([
    ['an unbounded list', '{{ range(100000000000)|length }}'],
    ['a list that doubles', '{% set n = namespace(s=[1]) %}{% for i in range(60) %}{% set n.s = n.s + n.s %}{% endfor %}'],
    // The memory grows too fast for V8 to stop the thread, so V8 aborts the process.
    [
      'a long list that doubles',
      '{% set n = namespace(s=range(200000)) %}{% for i in range(10) %}{% set n.s = n.s + n.s %}{% endfor %}',
    ],
    ['a very long joined text', '{{ range(3000)|join(big) }}'],
    ['a long list of text', '{% for i in range(10000000) %}{{ i }}{% endfor %}'],
    ['too long an output', '{% for i in range(200000) %}x{% endfor %}'],
  ])('cannot exhaust the memory of the process: %s', async (_, template) => {
    expect(await failure(template, { big: 'x'.repeat(100_000) })).toMatch(/too-large|out-of-time/);
  });

  it.each([
    [
      'a text that doubles',
      `{% set n = namespace(s='x') %}{% for i in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor %}{{ n.s }}`,
    ],
    ['an endless recursion', '{% macro a(n) %}{{ a(n) }}{% endmacro %}{{ a(1) }}'],
    ['deep nesting', `${'{{'}${'('.repeat(50_000)}1${')'.repeat(50_000)}${'}}'}`],
  ])('that breaks the engine is not rendered: %s', async (_, template) => {
    expect(await failure(template)).not.toBe('rendered');
  });

  it('leaves the engine usable', async () => {
    expect(await engine.render('{{ 1 + 1 }}', {})).toBe('2');
  });
});

it('refuses templates beyond the waiting limit of the threads', async () => {
  const small = new GuardedTemplates({ workersMax: 1, waitingMax: 2, deadlineMs: 1_000 });
  await small.render('ready', {});
  const results = await Promise.allSettled([ENDLESS, '{{ 1 }}', '{{ 2 }}', '{{ 3 }}'].map((each) => small.render(each, {})));
  expect(results.map((each) => (each.status === 'fulfilled' ? each.value : (each.reason as TemplateFailed).failure))).toEqual([
    'out-of-time',
    '1',
    '2',
    'busy',
  ]);
  await small.close();
});

it('fails a template that ends the process twice, and renders the others', async () => {
  const templates = new GuardedTemplates({ deadlineMs: 60_000 });
  const { process: guarded } = templates as unknown as { process: GuardedProcess<never, never> };
  await templates.render('ready', {});
  const { pid } = guarded;
  const innocent = templates.render('{{ 1 }}', {});
  const deadly = templates.render(ENDLESS, {});
  process.kill(pid!, 'SIGKILL');
  expect(await innocent).toBe('1');
  await eventually(() => guarded.pid !== pid && guarded.waiting === 0, 20_000, 'the template is rendered once more');
  process.kill(guarded.pid!, 'SIGKILL');
  await expect(deadly).rejects.toMatchObject({ failure: 'too-large' });
  expect(await templates.render('{{ 2 }}', {})).toBe('2');
  await templates.close();
});

it('refuses templates beyond the waiting limit of the process', async () => {
  const small = new GuardedTemplates({ waitingMax: 1 });
  const results = await Promise.allSettled(['{{ 1 }}', '{{ 2 }}'].map((each) => small.render(each, {})));
  expect(results).toMatchObject([{ value: '1' }, { reason: { failure: 'busy' } }]);
  await small.close();
});
