import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../../test/support/eventually.js';
import { processesWith } from '../../../platform/postgres/process-table.js';
import type { CodeFile } from '../code-runner.port.js';
import { CODE_LIMITS } from '../code-limits.js';
import { freshMemory, PythonProcess, pythonArguments } from './python-process.js';
import { PythonRunner } from './python-runner.js';

const SUPPORT = new URL('../../../../test/support/', import.meta.url);
const TYPESCRIPT = ['--import', new URL('typescript.js', SUPPORT).href];
const TIMEOUT_MS = 60_000;

let runner: PythonRunner;
beforeAll(() => {
  runner = new PythonRunner();
});
afterAll(() => runner.close());

const running = () => new AbortController().signal;
const run = (code: string, more: { state?: unknown; inputs?: readonly CodeFile[]; timeoutMs?: number } = {}) =>
  runner.run({ code, state: {}, inputs: [], timeoutMs: TIMEOUT_MS, ...more }, running());
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
      runner.run({ code: 'while True: pass', state: {}, inputs: [], timeoutMs: TIMEOUT_MS }, signal),
    );
    const outcomes = Promise.allSettled(runs);
    for (const loop of loops) loop.abort(new Error('Enough.'));
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: { message: 'Enough.' } });
    expect((await run('print(1)')).stdout).toBe('1\n');
  });
});

const indented = (text: string) => text.replaceAll('\n', '\n    ');

/** Code that runs the attempts in order and prints what each passed to `escaped`. */
const attempts = (bodies: readonly (readonly [name: string, body: string])[]) => `
import json, sys
outcomes = {}
${bodies
  .map(
    ([name, body], index) => `
async def attempt${index}(escaped):
    ${indented(body)}
got = []
print(' ' * 5000, ${JSON.stringify(name)}, file=sys.stderr, flush=True)
try:
    await attempt${index}(lambda *what: got.append(repr(what)[:200]))
    outcomes[${JSON.stringify(name)}] = got
except BaseException as error:
    outcomes[${JSON.stringify(name)}] = got
`,
  )
  .join('')}
print(json.dumps(outcomes))
`;

/** Python that compiles and runs this JavaScript by way of `pyodide_js`. */
const javaScript = (expression: string) =>
  `
import pyodide_js
Function = pyodide_js.loadPackage.constructor
got = await Function('return (async () => { ' + ${JSON.stringify(expression)} + ' })()')()
escaped(got)
`;

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

/** Attempts that must not get anything. PORT is the port of a server on this machine. */
const ESCAPES: Readonly<Record<string, string>> = {
  'run_js of pyodide.code': `from pyodide.code import run_js; escaped(run_js('1 + 1'))`,
  'the module js, by import': `import js; escaped(js.process.version)`,
  'the module js, by __import__': `escaped(__import__('js').eval('1 + 1'))`,
  'fetch of js': `import js; escaped(await js.fetch('http://127.0.0.1:PORT/'))`,
  'pyodide.http': `from pyodide.http import pyfetch; escaped(await (await pyfetch('http://127.0.0.1:PORT/')).string())`,
  open_url: `from pyodide.http import open_url; escaped(open_url('http://127.0.0.1:PORT/').read())`,
  'pyodide_js.runPython and its globals': `import pyodide_js; escaped(pyodide_js.globals.get('process'), pyodide_js.globalThis.process)`,
  'the constructor of a function': `import pyodide_js; escaped(pyodide_js.loadPackage.constructor('return 1')())`,
  'the constructor of an asynchronous function': `import pyodide_js; escaped(await pyodide_js.loadPackage.constructor.constructor('return import("node:fs")')())`,
  'os.popen': `import os; escaped(os.popen('id').read())`,
  subprocess: `import subprocess; escaped(subprocess.run(['id'], capture_output=True).stdout)`,
  'os.fork': `import os; escaped(os.fork())`,
  'os.posix_spawn': `import os; escaped(os.posix_spawn('/bin/sh', ['sh', '-c', 'id'], {}))`,
  'os.execv': `import os; os.execv('/bin/sh', ['sh', '-c', 'echo escaped'])`,
  'os.kill of the parent': `import os; os.kill(os.getppid(), 9)`,
  threading: `import threading; t = threading.Thread(target=print); t.start(); escaped(t)`,
  'a socket': `
import socket
s = socket.create_connection(('127.0.0.1', PORT), timeout=5); s.send(b'GET / HTTP/1.0\\r\\n\\r\\n'); escaped(s.recv(1000))`,
  'a Unix socket': `
import socket
s = socket.socket(socket.AF_UNIX); s.connect('/tmp/.s.PGSQL.5432'); escaped(s)`,
  'a datagram': `
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('127.0.0.1', PORT)); s.settimeout(1); escaped(s.recv(10))`,
  'a name that is resolved': `
import socket
address = socket.getaddrinfo('localhost', 80)[0][4][0]
if address in ('127.0.0.1', '::1'): escaped(address)`,
  urllib: `import urllib.request; escaped(urllib.request.urlopen('http://127.0.0.1:PORT/').read())`,
  'the package installer': `import pyodide_js; await pyodide_js.loadPackage('http://127.0.0.1:PORT/x.whl')`,
  'files of the machine': `escaped(open('/etc/passwd').read())`,
  'the environment by /proc': `escaped(open('/proc/self/environ', 'rb').read())`,
  'memory by /proc': `escaped(open('/proc/self/mem', 'rb').read(1))`,
  'the environment': `
import os
own = {'HOME', 'LANG', 'LD_LIBRARY_PATH', 'LOGNAME', 'PATH', 'PWD', 'PYTHONINSPECT', 'USER', '_'}
if set(os.environ) - own or any(part in str(os.environ) for part in ('/bin', '/src', 'node_modules')): escaped(dict(os.environ))`,
  NODEFS: `
import os, pyodide_js
fs = pyodide_js.FS; fs.mkdir('/host'); fs.mount(fs.filesystems.NODEFS, {'root': '/etc'}, '/host'); escaped(os.listdir('/host'))`,
  mountNodeFS: `import os, pyodide_js; pyodide_js.mountNodeFS('/host', '/etc'); escaped(os.listdir('/host'))`,
  'NODERAWFS and devices': `
import os, pyodide_js
fs = pyodide_js.FS
for name in ('NODERAWFS', 'PROXYFS', 'WORKERFS'):
    if hasattr(fs.filesystems, name): fs.mkdir('/' + name); fs.mount(getattr(fs.filesystems, name), {'root': '/', 'files': []}, '/' + name); escaped(os.listdir('/' + name))`,
  'a symbolic link to the machine': `import os; os.symlink('/etc/passwd', 'p'); escaped(open('p').read())`,
  'the loader of files of Pyodide': `
import pyodide_js
escaped(await pyodide_js._api.loadBinaryFile('/etc/passwd'))`,
  'a library of the machine': `import ctypes; escaped(ctypes.CDLL('/lib/x86_64-linux-gnu/libc.so.6'))`,
  'a descriptor that was left open': `
import os
for fd in range(3, 64):
    try: data = os.read(fd, 10)
    except OSError: continue
    escaped(fd, data)`,
  'JavaScript: process.binding': javaScript(`return process.binding('tcp_wrap')`),
  'JavaScript: require': javaScript(`return require('fs').readFileSync('/etc/passwd', 'utf8')`),
  'JavaScript: import of node:fs': javaScript(`return (await import('node:fs')).readFileSync('/etc/passwd', 'utf8')`),
  'JavaScript: import of data': javaScript(`return (await import('data:text/javascript,export default 1')).default`),
};

/** Attempts that end the interpreter. */
const DEADLY: Readonly<Record<string, string>> = {
  'a socket that listens': `
import socket
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); escaped(s.accept())`,
  multiprocessing: `import multiprocessing; p = multiprocessing.Process(target=print); p.start(); escaped(p.pid)`,
  'emscripten_run_script by ctypes': `import ctypes; escaped(ctypes.CDLL(None).emscripten_run_script(b'globalThis.escaped = 1'))`,
  'emscripten_run_script_string by ctypes': `
import ctypes
script = ctypes.CDLL(None).emscripten_run_script_string
script.restype = ctypes.c_char_p
escaped(script(b'require("node:os").hostname()'))`,
  'system of the C library by ctypes': `
import ctypes
if ctypes.CDLL(None).system(b'id') == 0: escaped('id')`,
  'os.system': `
import os
if os.system('id') == 0: escaped('id')`,
};

/** Attempts of code that has reached JavaScript. Each returns what it got. */
const JAVASCRIPT: Readonly<Record<string, string>> = {
  'the network, by fetch': `return (await fetch('http://127.0.0.1:PORT/')).text()`,
  'the network, by WebSocket': `return new WebSocket('ws://127.0.0.1:PORT/').url`,
  'the network, by EventSource': `return new EventSource('http://127.0.0.1:PORT/').url`,
  ...Object.fromEntries(
    [
      ['net', `m.connect(PORT, '127.0.0.1')`],
      ['http', `m.get('http://127.0.0.1:PORT/')`],
      ['https', `m.get('https://127.0.0.1:PORT/')`],
      ['http2', `m.connect('http://127.0.0.1:PORT/')`],
      ['tls', `m.connect(PORT, '127.0.0.1')`],
      ['dgram', `m.createSocket('udp4')`],
      ['dns', `m.lookup('localhost', () => {})`],
      ['dns/promises', `m.lookup('localhost')`],
      ['inspector', `m.open(0)`],
      ['child_process', `m.execFileSync('/bin/echo', ['x'])`],
      ['worker_threads', `new m.Worker('1', { eval: true })`],
      ['cluster', `m.fork()`],
      ['fs', `m.readFileSync('/etc/passwd', 'utf8')`],
      ['fs', `m.writeFileSync('/tmp/escaped-from-code', 'x')`],
      ['fs/promises', `m.readFile('/etc/passwd', 'utf8')`],
      ['vm', `m.runInThisContext('process.version')`],
      ['module', `m.createRequire('file:///x')('fs').readFileSync`],
      ['module', `new m('x').require('fs').readFileSync`],
      ['process', `m.kill(m.ppid, 0)`],
      ['process', `m._kill(m.ppid, 0)`],
      ['process', `m.getBuiltinModule('fs').readFileSync`],
      ['process', `m.binding('fs')`],
      ['process', `m._linkedBinding('fs')`],
      ['process', `m.dlopen({ exports: {} }, '/lib/x.node')`],
      ['process', `m.stdout.constructor`],
      ['process', `m.report.writeReport('/tmp/escaped-from-code')`],
      ['v8', `m.writeHeapSnapshot('/tmp/escaped-from-code')`],
      ['v8', `m.setFlagsFromString('--allow-natives-syntax')`],
      ['os', `m.hostname()`],
      ['repl', `m.start()`],
      ['wasi', `new m.WASI({ version: 'preview1' })`],
      ['trace_events', `m.createTracing({ categories: ['node'] })`],
    ].map(([name, use]) => [
      `node:${name}: ${use}`,
      `const m = (await import('node:${name}')).default; return ${use!.replace(/^new m\.(\w+)/, 'new (m.$1)')}`,
    ]),
  ),
  'node:sqlite': `return new (await import('node:sqlite')).DatabaseSync('/tmp/escaped-from-code')`,
  'node:test': `return (await import('node:test')).run({ files: ['/etc/passwd'] })`,
  'a file that is imported': `return (await import('/etc/hostname', { with: { type: 'json' } })).default`,
  'the global process': `return process.version`,
  'frames of Node on the stack': `
    const got = [];
    Error.prepareStackTrace = (_, frames) => frames.map((each) => [each.getFileName(), each.getFunction()]);
    const frames = new Error().stack;
    for (const [file, f] of frames) if (/^node:/.test(file ?? '') && f) got.push(file);
    if (got.length === 0) throw new Error('none');
    return got.join()`,
};

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
    await own.run({ code: 'print(1)', state: {}, inputs: [], timeoutMs: TIMEOUT_MS }, running());
    expect(processesOf(123_457).length).toBeGreaterThan(0);
    await own.close();
    await eventually(() => processesOf(123_457).length === 0);
    expect(await own.run({ code: '', state: {}, inputs: [], timeoutMs: 1 }, running())).toMatchObject({
      failure: { kind: 'unavailable' },
    });
  });

  it.each(['while True: pass', 'import time; time.sleep(3600)'])(
    'ends when the service is killed while the code runs: %s',
    async (code) => {
      const owner = spawn(process.execPath, [
        ...TYPESCRIPT,
        fileURLToPath(new URL('code-run.owner.ts', SUPPORT)),
        '234567',
        code,
      ]);
      await eventually(() => processesOf(234_567).length > 0);
      owner.kill('SIGKILL');
      await eventually(() => processesOf(234_567).length === 0);
    },
  );
});
