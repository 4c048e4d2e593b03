import { compileAll } from './compiled-file.js';

/** Compiles what the suites load, before they start. */
export default compileAll;
