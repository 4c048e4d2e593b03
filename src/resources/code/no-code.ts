import { Rejection } from '../../kernel/rejection.js';
import { CodeRunner } from './code-runner.port.js';

/** The runner of a service where code is switched off. */
export class NoCode extends CodeRunner {
  async run(): Promise<never> {
    throw new Rejection('code-disabled', 'Code nodes are switched off on this server.');
  }

  async close(): Promise<void> {}
}
