import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../../../test/support/eventually.js';
import { attempts, DEADLY, ESCAPES, JAVASCRIPT, javaScript } from '../../../../test/support/python-escapes.js';
import { processesWith } from '../../../platform/postgres/process-table.js';
import { CODE_LIMITS } from '../code-limits.js';
import type { CodeFile } from '../code-runner.port.js';
import { freshMemory, pythonArguments, PythonProcess } from './python-process.js';
import { PythonRunner } from './python-runner.js';

const OWNER = fileURLToPath(new URL('../../../../test/support/code-run.owner.js', import.meta.url));
const TIMEOUT_MS = 60_000;

let runner: PythonRunner;
beforeAll(() => {
  runner = new PythonRunner();
});
afterAll(() => runner.close());

const running = () => new AbortController().signal;
const run = (code: string, more: { state?: unknown; inputs?: readonly CodeFile[]; timeoutMs?: number } = {}) =>
  runner.run('ann', async () => ({ code, state: {}, inputs: [], timeoutMs: TIMEOUT_MS, ...more }), running());
const textOf = ({ content }: CodeFile) => Buffer.from(content).toString('utf8');
const bytes = (text: string) => new Uint8Array(Buffer.from(text));

describe('a run', () => {
  it('reads its state and inputs as files, and returns its output and new files', async () => {
    const code = `
import json, os, pathlib, sys
state = json.load(open('state.json'))
print('Hallo', state['name'], 'ü')
print('careful', file=sys.stderr)
pathlib.Path('out/deep').mkdir(parents=True)
open('out/deep/copy.bin', 'wb').write(open('inputs/a b.bin', 'rb').read())
json.dump(sorted(os.listdir('.')), open('seen.json', 'w'))
open('inputs/more.txt', 'w').write('not taken')
open('state.json', 'w').write('not taken')
os.symlink('/lib/python314.zip', 'link.zip')
`;
    const binary = new Uint8Array([0, 255, 10, 13, 128]);
    const { stdout, stderr, files, failure } = await run(code, {
      state: { name: 'Änn' },
      inputs: [{ name: 'a b.bin', content: binary }],
    });
    expect({ stdout, stderr, failure }).toEqual({ stdout: 'Hallo Änn ü\n', stderr: 'careful\n', failure: null });
    expect(files.map(({ name }) => name).sort()).toEqual(['out/deep/copy.bin', 'seen.json']);
    expect(files.find(({ name }) => name === 'out/deep/copy.bin')!.content).toEqual(binary);
    expect(textOf(files.find(({ name }) => name === 'seen.json')!)).toBe('["inputs", "out", "state.json"]');
  });

  it('has random numbers that no other run has', async () => {
    const code = `
import os, random, secrets, uuid
print(random.random(), os.urandom(8).hex(), secrets.token_hex(8), uuid.uuid4(), open('/dev/urandom', 'rb').read(8).hex())`;
    const [one, other] = [await run(code), await run(code)];
    expect([one.failure, other.failure]).toEqual([null, null]);
    const numbers = [one, other].flatMap(({ stdout }) => stdout.trim().split(' '));
    expect([numbers.length, new Set(numbers).size]).toEqual([10, 10]);
  });

  it('supports await and does not expand template syntax', async () => {
    const code = `
import asyncio
await asyncio.sleep(0.001)
async def greet(): return '{{ agent.name }} {% if %}'
print(await greet(), __name__)
`;
    expect(await run(code)).toMatchObject({ stdout: '{{ agent.name }} {% if %} __main__\n', failure: null });
  });

  it('fails with a traceback, the printed output and no files if it raises', async () => {
    const code = `print('before')\nopen('a.txt', 'w').write('x')\ndef f():\n    raise ValueError('broken')\nf()`;
    const { stdout, files, failure } = await run(code);
    expect({ stdout, files, kind: failure?.kind }).toEqual({ stdout: 'before\n', files: [], kind: 'error' });
    expect(failure?.text).toMatch(/^Traceback.*\n.*main\.py", line 5.*[^]*line 4, in f\n[^]*ValueError: broken\n$/);
  });

  it.each([
    ['import sys; sys.exit()', null],
    ['import sys; sys.exit(0)', null],
    ['import sys; sys.exit(3)', { kind: 'error', text: 'SystemExit: 3' }],
    ['if True print(1)', { kind: 'error', text: expect.stringContaining('SyntaxError') }],
  ])('fails if it exits with a code other than 0: %s', async (code, failure) => {
    expect((await run(code)).failure).toEqual(failure);
  });

  it('does not see anything of an earlier run', async () => {
    await run(`import builtins, sys; builtins.left = 1; sys.modules['left'] = builtins; open('/left', 'w').write('x')`);
    const code = `import builtins, os, sys; print(hasattr(builtins, 'left'), 'left' in sys.modules, os.path.exists('/left'))`;
    expect((await run(code)).stdout).toBe('False False False\n');
  });

  it('is refused if the name of an input leads out of the folder', async () => {
    for (const name of ['../state.json', '/etc/passwd', 'a/../../b', '', 'a\0b', 'a\\b', '.'])
      expect((await run('print(1)', { inputs: [{ name, content: bytes('x') }] })).failure?.kind).toBe('error');
  });

  it('ends when the caller aborts it, also while it waits', async () => {
    const loops = [1, 2, 3].map(() => new AbortController());
    const runs = loops.map(({ signal }) =>
      runner.run('ann', async () => ({ code: 'while True: pass', state: {}, inputs: [], timeoutMs: TIMEOUT_MS }), signal),
    );
    const outcomes = Promise.allSettled(runs);
    for (const loop of loops) loop.abort(new Error('Enough.'));
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: { message: 'Enough.' } });
    expect((await run('print(1)')).stdout).toBe('1\n');
  });
});

it('a run that waits has not read its files yet', async () => {
  const own = new PythonRunner({ concurrentMax: 1 });
  const loop = new AbortController();
  const prepared: string[] = [];
  const start = (code: string, signal: AbortSignal) =>
    own.run('ann', async () => (prepared.push(code), { code, state: {}, inputs: [], timeoutMs: TIMEOUT_MS }), signal);
  const first = start('while True: pass', loop.signal);
  const second = start('print(1)', running());
  await eventually(() => prepared.length > 0);
  expect(prepared).toEqual(['while True: pass']);
  loop.abort(new Error('Enough.'));
  await expect(first).rejects.toThrow('Enough.');
  expect((await second).stdout).toBe('1\n');
  await own.close();
});

it('runs of many owners take turns, and the owner with the most is refused first', async () => {
  const own = new PythonRunner({ concurrentMax: 1, waitingMax: 3 });
  const [loop, order]: [AbortController, string[]] = [new AbortController(), []];
  const start = (ownerId: string, name: string, signal = running(), code = 'pass') =>
    own.run(ownerId, async () => (order.push(name), { code, state: {}, inputs: [], timeoutMs: TIMEOUT_MS }), signal);
  const first = start('ann', 'ann 1', loop.signal, 'while True: pass');
  const others = [start('ann', 'ann 2'), start('ann', 'ann 3'), start('ann', 'ann 4'), start('bob', 'bob 1')];
  await eventually(() => order.length > 0);
  loop.abort(new Error('Enough.'));
  await expect(first).rejects.toThrow('Enough.');
  const failures = (await Promise.all(others)).map(({ failure }) => failure?.kind);
  expect([order, failures]).toEqual([
    ['ann 1', 'bob 1', 'ann 2', 'ann 3'],
    [undefined, undefined, 'unavailable', undefined],
  ]);
  await own.close();
});

const SECRET = 'test-secret-of-the-service';
let neighbour: Server;
let visits = 0;
beforeAll(async () => {
  neighbour = createServer((_, response) => {
    visits++;
    response.end(SECRET);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => neighbour.once('listening', resolve));
});
afterAll(() => {
  neighbour.close();
});
const port = () => (neighbour.address() as AddressInfo).port;

const CRASHED = { kind: 'error', text: 'The interpreter ended before the code did.' };

describe('code that tries to escape', () => {
  it('gets nothing in any of the ways', async () => {
    const { stdout, stderr, failure } = await run(attempts(Object.entries(ESCAPES)).replaceAll('PORT', String(port())));
    // The last printed line names the attempt that was begun last. Output arrives in pieces, hence the padding.
    expect([failure, stderr.trim().split('\n').at(-1)?.trim()]).toEqual([null, Object.keys(ESCAPES).at(-1)]);
    const outcomes = JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Readonly<Record<string, readonly string[]>>;
    expect(outcomes).toEqual(Object.fromEntries(Object.keys(ESCAPES).map((name) => [name, []])));
    expect(Object.keys(outcomes).length).toBeGreaterThanOrEqual(30);
    expect(stdout).not.toContain(SECRET);
    expect(visits).toBe(0);
  });

  it.each(Object.entries(DEADLY))('ends only its own interpreter: %s', async (name, code) => {
    const { stdout, failure } = await run(attempts([[name, code]]));
    expect(failure).toEqual(CRASHED);
    expect(stdout).not.toContain('uid=');
  });
});

describe('code that reaches JavaScript, with compilation of strings allowed,', () => {
  const all = Object.entries(JAVASCRIPT);
  const isForTexts = (argument: string) => argument !== '--disallow-code-generation-from-strings';
  /** All attempts in one run. Each has its own outcome. */
  const trial = all.map(([, body]) => `await attempt(async () => { ${body} });`).join('\n');
  const script = `
const outcomes = [];
const attempt = async (body) => {
  try {
    const got = await body();
    outcomes.push(got === undefined ? 'nothing' : 'escaped ' + String(got).slice(0, 100));
  } catch (error) {
    outcomes.push('refused');
  }
};
outcomes.push('reached');
${trial}
return JSON.stringify(outcomes);`;

  it('gets nothing from Node', async () => {
    const memory = await freshMemory(CODE_LIMITS);
    const process = new PythonProcess(CODE_LIMITS, memory, pythonArguments(CODE_LIMITS).filter(isForTexts));
    await process.ready;
    const code = `escaped = print\n${javaScript(script.replaceAll('PORT', String(port())))}`;
    const { stdout, failure } = await process.run({ code, state: {}, inputs: [], timeoutMs: TIMEOUT_MS }, running());
    expect(failure).toBeNull();
    const [reached, ...outcomes] = JSON.parse(stdout) as string[];
    expect(reached).toBe('reached');
    const got = outcomes
      .map((outcome, index) => [all[index]![0], outcome])
      .filter(([, outcome]) => outcome!.startsWith('escaped'));
    expect(got).toEqual([]);
    expect(outcomes).toHaveLength(all.length);
    expect([visits, existsSync('/tmp/escaped-from-code')]).toEqual([0, false]);
  });
});

describe('code that exceeds a limit', () => {
  it.each([
    ['a loop without an end', 'while True: pass', 'timeout'],
    ['a sleep', 'import time; time.sleep(3600)', 'timeout'],
    ['a pattern that backtracks', `import re; re.match(r'(a+)+$', 'a' * 60 + 'b')`, 'timeout'],
    ['a huge number', 'x = 10 ** 10 ** 9', 'timeout|memory'],
    ['an await that never ends', 'import asyncio; await asyncio.Future()', 'error|timeout'],
  ])('is stopped at its timeout or memory limit: %s', async (_, code, kind) => {
    const { stdout, failure } = await run(`print('begun', flush=True)\n${code}`, { timeoutMs: 1_500 });
    expect(failure?.kind).toMatch(new RegExp(`^(${kind})$`));
    expect(stdout.length).toBeLessThan(10);
  });

  it.each([
    ['bytes', `b = []\nwhile True: b.append(bytearray(10_000_000))`, 'memory'],
    ['one block', `bytearray(1_500_000_000)`, 'memory'],
    ['growing text', `s = 'x'\nwhile True: s += s`, 'memory'],
    ['memory of WebAssembly', `import pyodide_js\nM = pyodide_js._module.wasmMemory\nwhile True: M.grow(1000)`, 'error|memory'],
    [
      'arrays of JavaScript',
      `import pyodide_js\nA = pyodide_js._module.HEAPU8.constructor\nk = []\nwhile True:\n    a = A.new(100_000_000); a.fill(1); k.append(a)`,
      'error|memory',
    ],
  ])('does not affect the service when memory runs out: %s', async (_, code, kind) => {
    const { failure } = await run(code);
    expect(failure?.kind).toMatch(new RegExp(`^(${kind})$`));
  });

  it.each([
    ['calls', 'def f(): f()\nf()', 'error'],
    ['calls without a limit', 'import sys\nsys.setrecursionlimit(10**9)\ndef f(): f()\nf()', 'error'],
    ['prints', `while True: print('x' * 10_000)`, 'output'],
    ['prints single characters', `import sys\nwhile True: sys.stdout.write('x')`, 'output'],
    ['prints errors', `import sys\nwhile True: sys.stderr.write('x' * 100_000)`, 'output'],
    ['files', `for i in range(51): open(f'{i}', 'w').write('x')`, 'output'],
    ['a large file', `open('a', 'wb').write(bytes(51 * 1024 * 1024))`, 'output'],
    ['a file with an invalid name', `open('a\\\\b:c', 'w').write('x')`, 'output'],
    ['a file with a long name', `open('n' * 300, 'w').write('x')`, 'output|error'],
    ['a deep folder', `import os; os.makedirs('a/' * 20); open('a/' * 20 + 'x', 'w').write('x')`, 'output'],
    ['a name that is not valid text', `open(b'a\\xff\\n', 'w').write('x')`, 'output|error'],
  ])('fails at its limits: %s', async (_, code, kind) => {
    const { failure, files } = await run(code);
    expect(failure?.kind).toMatch(new RegExp(`^(${kind})$`));
    expect(files).toEqual([]);
  });
});

describe('the process of a run', () => {
  /** The interpreters of this test, recognized by their unusual `idleMs`. */
  const processesOf = (idleMs: number) =>
    processesWith(`"idleMs":${idleMs}}`).filter(({ command }) => !command.includes('owner'));

  it('ends when the runner is closed, and so does the spare process', async () => {
    const own = new PythonRunner({ idleMs: 123_457 });
    await own.run('ann', async () => ({ code: 'print(1)', state: {}, inputs: [], timeoutMs: TIMEOUT_MS }), running());
    expect(processesOf(123_457).length).toBeGreaterThan(0);
    await own.close();
    await eventually(() => processesOf(123_457).length === 0);
    expect(await own.run('ann', async () => ({ code: '', state: {}, inputs: [], timeoutMs: 1 }), running())).toMatchObject({
      failure: { kind: 'unavailable' },
    });
  });

  it.each(['while True: pass', 'import time; time.sleep(3600)'])(
    'ends when the service is killed while the code runs: %s',
    async (code) => {
      const owner = spawn(process.execPath, [OWNER, '234567', code]);
      await eventually(() => processesOf(234_567).length > 0);
      owner.kill('SIGKILL');
      await eventually(() => processesOf(234_567).length === 0);
    },
  );
});
