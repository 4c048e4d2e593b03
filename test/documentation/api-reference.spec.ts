import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { NOT_BUILT, NOT_BUILT_FOR_ANYBODY } from '../../src/views/start-up/not-built.http.js';
import { routes } from '../support/routes.js';

const ROOT = new URL('../../', import.meta.url);
const DOCUMENTS = ['openapi.json', 'swagger.json'] as const;
/** The compiler reads all sources, on a machine that may have other things to do. */
const COMPILING_MS_MAX = 900_000;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

type Operation = Readonly<{
  summary?: string;
  tags?: readonly string[];
  security?: unknown;
  requestBody?: Readonly<{ content: Readonly<Record<string, Readonly<{ schema?: object; examples?: object }>>> }>;
  responses: Readonly<Record<string, Readonly<{ description?: string; content?: object; $ref?: string }>>>;
}>;
type Document = Readonly<{ paths: Record<string, Record<string, Operation>>; 'x-not-built': readonly string[] }>;

const textOf = (name: string): string => readFileSync(new URL(`docs/${name}`, ROOT), 'utf8');
const document = JSON.parse(textOf('openapi.json')) as Document;
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([verb, operation]) => ({ title: `${verb.toUpperCase()} ${path}`, operation })),
);
const asDocumented = (path: string): string => path.replaceAll(/:(\w+)/g, '{$1}');

describe('the API reference', () => {
  it(
    'is what the sources say, as npm run openapi:dump writes it',
    async () => {
      const program = ['--import', './test/support/typescript.js', 'test/support/dump-openapi.ts', '--print'];
      const options = { cwd: ROOT, maxBuffer: OUTPUT_BYTES_MAX };
      const { stdout } = await promisify(execFile)(process.execPath, program, options);
      const dumped = JSON.parse(stdout) as Record<(typeof DOCUMENTS)[number], string>;
      for (const name of DOCUMENTS) expect(textOf(name) === dumped[name]).toBe(true);
    },
    COMPILING_MS_MAX,
  );

  it.each(DOCUMENTS)('is valid: %s', async (name) => {
    expect(await new Validator().validate(JSON.parse(textOf(name)) as Record<string, unknown>)).toEqual({ valid: true });
  });

  it('has every route of the service, and nothing else', () => {
    const refused = routes.filter(({ method }) => method === 'ALL').map(({ path }) => asDocumented(path));
    const answered = routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${asDocumented(path)}`);
    expect(operations.map(({ title }) => title).sort()).toEqual(answered.sort());
    expect([...document['x-not-built']]).toEqual([...refused].sort());
    expect(refused).toHaveLength(Object.values({ ...NOT_BUILT, ...NOT_BUILT_FOR_ANYBODY }).flat().length);
  });

  it('says of every operation what it does, who may, what is sent, what is answered and what is refused', () => {
    const lacking = operations.filter(({ operation: { summary, tags, security, requestBody, responses } }) => {
      const bodies = Object.values(requestBody?.content ?? {});
      const answers = Object.entries(responses).filter(([status]) => Number(status) < 400);
      return (
        !summary ||
        !tags?.length ||
        security === undefined ||
        bodies.some(({ schema }) => !schema) ||
        answers.length === 0 ||
        !('500' in responses)
      );
    });
    expect(lacking.map(({ title }) => title)).toEqual([]);
  });
});
