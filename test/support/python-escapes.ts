const indented = (text: string) => text.replaceAll('\n', '\n    ');

/** Code that runs the attempts in order and prints what each passed to `escaped`. */
export const attempts = (bodies: readonly (readonly [name: string, body: string])[]) => `
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
export const javaScript = (expression: string) =>
  `
import pyodide_js
Function = pyodide_js.loadPackage.constructor
got = await Function('return (async () => { ' + ${JSON.stringify(expression)} + ' })()')()
escaped(got)
`;

/** Attempts that must not get anything. PORT is the port of a server on this machine. */
export const ESCAPES: Readonly<Record<string, string>> = {
  multiprocessing: `import multiprocessing; p = multiprocessing.Process(target=print); p.start(); escaped(p.pid)`,
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
export const DEADLY: Readonly<Record<string, string>> = {
  'a socket that listens': `
import socket
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); escaped(s.accept())`,
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
export const JAVASCRIPT: Readonly<Record<string, string>> = {
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
