import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { sourceMapPath } from '../compiled-file.js';
import { useSuite } from './globals.js';

const require = createRequire(import.meta.url);

/**
 * Loads suites as Node loads programs: no virtual machine, modules compiled by the loader of `../typescript.js`, each loaded
 * once in a process. Within jest's own runtime the service takes a third more time, every suite reads all modules anew, and
 * none of them is ever freed. What jest can do beyond that, mocks of modules above all, is not used here.
 */
export default class NodeRuntime {
  constructor(_config, environment) {
    this.environment = environment;
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  async unstable_importModule(path) {
    await import(pathToFileURL(path).href);
  }

  requireModule(path) {
    return require(path);
  }

  /** What a suite declares is kept in a module of jest-circus, of which each suite has one of its own. */
  requireInternalModule(path) {
    delete require.cache[path];
    delete globalThis[Symbol.for('EVENT_HANDLERS')];
    return require(path);
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

class SourceMaps extends Map {
  get(place) {
    const file = place.startsWith('file:') ? fileURLToPath(place) : place;
    return file.endsWith('.ts') ? sourceMapPath(file) : undefined;
  }
}
