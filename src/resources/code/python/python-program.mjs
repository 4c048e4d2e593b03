/**
 * Runs one Python program and ends, or makes a memory snapshot of a fresh interpreter, with which others start five times as fast.
 * `python-process.ts` starts it under Node's permission model, which lets it read only Pyodide's files and start no process. It is
 * plain JavaScript because the loader that compiles TypeScript needs more permissions.
 *
 * Python code can reach JavaScript (`ctypes`, `pyodide_js`). Before it runs, everything is removed with which JavaScript reaches
 * the outside: all modules of Node, the process, and the globals that do not belong to the language. Strings cannot be compiled
 * to code (`--disallow-code-generation-from-strings`). What remains is memory, time and two channels: the job arrives by
 * descriptor 3, and frames leave by descriptor 1. The service trusts nothing in these frames.
 */
import crypto from 'node:crypto';
import fs from 'node:fs';
import module, { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

const { task, pyodideFolder, limits } = JSON.parse(process.argv[2]);
const JOB = 3;
const FRAMES = 1;
const WORK = '/work';
const INPUTS = `${WORK}/inputs`;
const HEADER_BYTES = 8;
/** Printed output is sent when so many bytes have been collected or so much time has passed. */
const PIECE_BYTES = 4096;
const PIECE_MS = 50;

const { readSync, writeSync, constants } = fs;
const { randomFillSync } = crypto;
const node = process;
/** Python can read the arguments of the process, so they are replaced. */
node.argv = ['node', 'python'];
const { pid } = node;
const exit = node.reallyExit.bind(node);
const { from, alloc, concat } = Buffer;
const { parse, stringify } = JSON;

/** The modules of Node. `module.builtinModules` does not list all of them. */
const MODULES = [
  ...module.builtinModules,
  ...['sea', 'sqlite', 'test', 'test/reporters', 'quic', 'ffi', 'vfs', 'stream/iter'].map((name) => `node:${name}`),
];

/** The properties of the process that Node's own code still uses. */
const KEPT_OF_PROCESS = new Set([
  'nextTick',
  'emit',
  'emitWarning',
  'version',
  'versions',
  'platform',
  'arch',
  'argv',
  'env',
  'exitCode',
  '_exiting',
]);
/** The globals that are kept in addition to those of the language. */
const KEPT_GLOBALS = [
  'setTimeout',
  'clearTimeout',
  'setImmediate',
  'queueMicrotask',
  'performance',
  'TextEncoder',
  'TextDecoder',
  'WebAssembly',
  'DOMException',
];

function take(owner, key) {
  try {
    if (delete owner[key]) return;
  } catch {
    // A property that cannot be deleted is overwritten below.
  }
  try {
    Object.defineProperty(owner, key, { value: undefined, writable: false });
  } catch {
    // Constants can be neither deleted nor overwritten.
  }
}

function empty(owner, kept = new Set()) {
  for (const key of Reflect.ownKeys(owner)) if (!kept.has(key)) take(owner, key);
}

/** Pyodide reads the streams of the process, which are sockets and must not be reachable. */
function hideStreams() {
  const stream = { fd: -1, isTTY: false, write: () => true, on: () => stream, once: () => stream, removeListener: () => stream };
  for (const name of ['stdin', 'stdout', 'stderr']) Object.defineProperty(process, name, { value: stream, configurable: true });
}

/** Loads every module, so that a later import finds the emptied one. */
function loadedModules() {
  const require = createRequire(import.meta.url);
  return MODULES.flatMap((name) => {
    try {
      return [[name.replace(/^node:/, ''), require(name)]];
    } catch {
      return [];
    }
  });
}

const NETWORK =
  /^(_?http|_?tls|https|http2|net|dgram|dns|inspector|cluster|child_process|worker_threads|repl|test|wasi|sqlite|quic|trace_events)/;

function emptyModules(modules, isMeant) {
  for (const [name, exported] of modules) {
    if (!isMeant(name) || exported === node || exported === globalThis) continue;
    if (typeof exported === 'function' && typeof exported.prototype === 'object') empty(exported.prototype);
    empty(exported);
  }
}

function emptyGlobals() {
  const language = vm.runInNewContext('Reflect.ownKeys(globalThis)');
  const silent = () => undefined;
  const quiet = { log: silent, warn: silent, error: silent, info: silent, debug: silent, trace: silent };
  empty(globalThis, new Set([...language, ...KEPT_GLOBALS, 'globalThis']));
  Object.defineProperty(globalThis, 'console', { value: quiet });
}

const stdout = printer('stdout');
const stderr = printer('stderr');
const printers = [stdout, stderr];

function receive(length) {
  const bytes = alloc(length);
  for (let filled = 0; filled < length;) {
    const read = readSync(JOB, bytes, filled, length - filled, null);
    if (read === 0) exit(0);
    filled += read;
  }
  return bytes;
}

function receiveFrame() {
  const sizes = receive(HEADER_BYTES);
  const head = parse(receive(sizes.readUInt32BE(0)).toString());
  return { ...head, body: receive(sizes.readUInt32BE(4)) };
}

function send(head, body = alloc(0)) {
  const text = from(stringify(head));
  const sizes = alloc(HEADER_BYTES);
  sizes.writeUInt32BE(text.length, 0);
  sizes.writeUInt32BE(body.length, 4);
  const frame = concat([sizes, text, body]);
  for (let sent = 0; sent < frame.length;) sent += writeSync(FRAMES, frame, sent);
}

function end(failure) {
  for (const { flush } of printers) flush();
  send({ kind: 'end', failure });
  exit(0);
}

/** Sends printed output in pieces, and ends the run when it exceeds the limit. */
function printer(kind) {
  let printed = 0;
  let pieces = [];
  let length = 0;
  let sentAt = performance.now();
  const flush = () => {
    if (length > 0) send({ kind }, concat(pieces));
    pieces = [];
    length = 0;
    sentAt = performance.now();
  };
  const write = (bytes) => {
    printed += bytes.length;
    if (printed > limits.printedBytesMax) end({ kind: 'output', text: `It printed more than ${limits.printedBytesMax} bytes.` });
    pieces.push(from(bytes));
    length += bytes.length;
    if (length >= PIECE_BYTES || performance.now() - sentAt > PIECE_MS) flush();
    return bytes.length;
  };
  return { write, flush };
}

/** The regular files below a folder, without links. */
function* filesBelow({ FS }, folder) {
  for (const name of FS.readdir(folder)) {
    const path = `${folder}/${name}`;
    if (name === '.' || name === '..' || path === INPUTS || path === `${WORK}/state.json`) continue;
    const { mode, size } = FS.lstat(path);
    if (FS.isDir(mode)) yield* filesBelow({ FS }, path);
    else if (FS.isFile(mode)) yield { name: path.slice(WORK.length + 1), path, size };
  }
}

/** The end of a traceback, which names the error. The path of the installation is hidden. */
const shown = (text) => text.replaceAll(pyodideFolder, 'pyodide').slice(-limits.tracebackCharactersMax);

function sendFiles(python) {
  const files = [];
  let size = 0;
  for (const file of filesBelow(python, WORK)) {
    files.push(file);
    size += file.size;
    if (files.length > limits.filesMax) end({ kind: 'output', text: `It left more than ${limits.filesMax} files.` });
    if (size > limits.fileBytesMax) end({ kind: 'output', text: `It left files of more than ${limits.fileBytesMax} bytes.` });
  }
  for (const { name, path } of files) send({ kind: 'file', name }, from(python.FS.readFile(path)));
}

/** The modules that the harness and most code import. */
const IMPORTS = 'import asyncio, json, linecache, os, re, sys, traceback, types, pyodide.code';

/** Runs the code as `__main__`. Tracebacks begin at the code's own frames. Exiting without a code or with 0 is not a failure. */
const HARNESS = `
def run(code):
    import linecache, sys, traceback, types
    main = types.ModuleType('__main__')
    sys.modules['__main__'] = main
    sys.argv = ['main.py']
    linecache.cache['main.py'] = (len(code), None, code.splitlines(True), 'main.py')
    from pyodide.code import eval_code_async
    async def watched():
        try:
            await eval_code_async(code, main.__dict__, return_mode='none', filename='main.py')
        except SystemExit as end:
            if end.code is None or end.code == 0:
                return None
            return 'SystemExit: ' + str(end.code)
        except BaseException as error:
            frames = error.__traceback__
            while frames is not None and frames.tb_frame.f_code.co_filename != 'main.py':
                frames = frames.tb_next
            return ''.join(traceback.format_exception(type(error), error, frames))
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
        return None
    return watched()
run
`;

hideStreams();
process.binding = (name) => (name === 'constants' ? { fs: constants } : undefined);
const modules = loadedModules();
emptyModules(modules, (name) => NETWORK.test(name));
module.syncBuiltinESMExports();

const { loadPyodide } = await import(pathToFileURL(`${pyodideFolder}/pyodide.mjs`).href);
const options = {
  indexURL: pyodideFolder,
  env: { HOME: WORK },
  jsglobals: { setTimeout, clearTimeout },
  stdin: () => null,
  stdout: () => undefined,
  stderr: () => undefined,
};

if (task === 'snapshot') {
  const fresh = await loadPyodide({ ...options, _makeSnapshot: true });
  fresh.runPython(IMPORTS);
  send({ kind: 'snapshot' }, from(fresh.makeMemorySnapshot()));
  exit(0);
}

const python = await loadPyodide({ ...options, _loadSnapshot: receiveFrame().body });
const run = python.runPython(HARNESS);
// The snapshot holds the state of the generator. With its first bytes Pyodide also finds the source of randomness, which it keeps.
python.runPython('import random; random.seed()');
const { syncBuiltinESMExports, registerHooks } = module;
registerHooks?.({
  resolve() {
    throw new Error('Nothing can be imported here.');
  },
});
emptyGlobals();
emptyModules(modules, () => true);
crypto.randomFillSync = (bytes) => randomFillSync(bytes);
syncBuiltinESMExports();
empty(node, KEPT_OF_PROCESS);

send({ kind: 'ready', pid });
const job = receiveFrame();
python.FS.mkdirTree(INPUTS);
python.FS.chdir(WORK);
for (let frame = receiveFrame(); frame.kind === 'file'; frame = receiveFrame()) {
  const path = `${WORK}/${frame.name}`;
  python.FS.mkdirTree(path.slice(0, path.lastIndexOf('/')));
  python.FS.writeFile(path, frame.body);
}
python.setStdout(stdout);
python.setStderr(stderr);

try {
  const failure = await run(job.body.toString());
  if (failure !== undefined && failure !== null) end({ kind: 'error', text: shown(failure) });
  sendFiles(python);
  end(null);
} catch (error) {
  end({ kind: 'error', text: shown(`${error}`) });
}
