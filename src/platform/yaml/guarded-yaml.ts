import { GuardedProcess, GuardedProcessFailed } from '../sandbox/guarded-process.js';
import { YamlBusy, YamlDocuments, YamlRefused } from './yaml-documents.port.js';
import type { GuardedYamlOptions, YamlAnswer } from './yaml-program.js';
import { TOO_MUCH_MEMORY } from './yaml-threads.js';

const ENTRY = new URL('./yaml-program.js', import.meta.url);

/** Parses large texts in the threads of a child process, which V8 aborts when a text fills the memory of its thread too fast. */
export class GuardedYaml extends YamlDocuments {
  private readonly process: GuardedProcess<string, YamlAnswer>;

  constructor(options: GuardedYamlOptions) {
    super();
    this.process = new GuardedProcess({ program: { entry: ENTRY, options } });
  }

  async read(text: string): Promise<unknown> {
    const answer = await this.process.ask(text).catch((error: unknown) => {
      throw error instanceof GuardedProcessFailed && error.failure === 'died' ? new YamlRefused(TOO_MUCH_MEMORY) : error;
    });
    if ('refused' in answer) throw new YamlRefused(answer.refused);
    if ('busy' in answer) throw new YamlBusy(answer.busy);
    return answer.value;
  }

  close(): Promise<void> {
    return this.process.close();
  }
}
