import { readFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import { compiledPath, isCompiled, isSource, sourceMapPath } from '../compiled-file.js';
import { useSuite } from './globals.js';

const require = createRequire(import.meta.url);
const asyncHooks = require('node:async_hooks');
/** A property in Node 20, a getter in later versions. */
const ASYNC_LOCAL_STORAGE = Object.getOwnPropertyDescriptor(asyncHooks, 'AsyncLocalStorage');

/**
 * Loads suites as Node loads programs: without a virtual machine, from files that are compiled before, each loaded
 * once per process. In jest's own runtime the service takes a third more time, every suite loads all modules again, and
 * none of them is ever freed. Other features of jest, above all mocks of modules, are not used here.
 */
export default class NodeRuntime {
  constructor(_config, environment) {
    this.environment = environment;
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  async unstable_importModule(path) {
    await import(pathToFileURL(isSource(path) ? compiledPath(path) : path).href);
  }

  requireModule(path) {
    return require(path);
  }

  /** A module of jest-circus stores the declarations of a suite, so each suite gets a fresh instance of it. */
  requireInternalModule(path) {
    delete globalThis[Symbol.for('EVENT_HANDLERS')];
    Object.defineProperty(asyncHooks, 'AsyncLocalStorage', { value: SequentialContext, configurable: true });
    try {
      return instantiated(path);
    } finally {
      Object.defineProperty(asyncHooks, 'AsyncLocalStorage', ASYNC_LOCAL_STORAGE);
    }
  }

  setGlobalsForRuntime(globals) {
    useSuite({ ...globals, jest: this.environment.jest });
  }

  getSourceMaps() {
    return new SourceMaps();
  }

  getAllCoverageInfoCopy() {
    return undefined;
  }

  clearAllMocks() {
    this.environment.moduleMocker.clearAllMocks();
  }

  resetAllMocks() {
    this.environment.moduleMocker.resetAllMocks();
  }

  restoreAllMocks() {
    this.environment.moduleMocker.restoreAllMocks();
  }

  resetModules() {}
  enterTestCode() {}
  leaveTestCode() {}
  teardown() {}
}

const scripts = new Map();

/** The exports of a new instance of a module, whose code is compiled once per process. */
function instantiated(path) {
  const script = scripts.get(path) ?? new Script(Module.wrap(readFileSync(path, 'utf8')), { filename: path });
  scripts.set(path, script);
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(path), module, path, dirname(path));
  return module.exports;
}

/**
 * Holds jest-circus's context of the running test. With the `AsyncLocalStorage` that jest-circus uses, every promise of the
 * process would carry the contexts of all earlier suites, which costs a third of the time of all unit tests. Tests run one after
 * another here, so one value is enough.
 */
class SequentialContext {
  getStore() {
    return this.store;
  }

  run(store, callback) {
    const before = this.store;
    const restore = () => {
      this.store = before;
    };
    this.store = store;
    let result;
    try {
      result = callback();
    } catch (error) {
      restore();
      throw error;
    }
    if (typeof result?.finally === 'function') return result.finally(restore);
    restore();
    return result;
  }
}

class SourceMaps extends Map {
  get(place) {
    const file = place.startsWith('file:') ? fileURLToPath(place) : place;
    return isCompiled(file) ? sourceMapPath(file) : undefined;
  }
}
