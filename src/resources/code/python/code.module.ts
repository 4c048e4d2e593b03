import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../../platform/config/config.js';
import { codeRejections } from '../code.rejections.js';
import { CodeRunner } from '../code-runner.port.js';
import { NoCode } from '../no-code.js';
import { PythonRunner } from './python-runner.js';

/** Runs users' Python. */
@Module({
  providers: [
    {
      provide: CodeRunner,
      inject: [Config],
      useFactory: ({ codeNodes, codeRunsMax, codeMemoryBytesMax, codeTimeoutMsMax }: Config) =>
        codeNodes
          ? new PythonRunner({ concurrentMax: codeRunsMax, memoryBytesMax: codeMemoryBytesMax, timeoutMsMax: codeTimeoutMsMax })
          : new NoCode(),
    },
  ],
  exports: [CodeRunner],
})
export class CodeModule implements OnApplicationShutdown {
  static readonly rejections = codeRejections;

  constructor(private readonly runner: CodeRunner) {}

  /** Closes the runner in the last phase, because workflow runs that finish during the shutdown still run code. */
  onApplicationShutdown(): Promise<void> {
    return this.runner.close();
  }
}
