/** An input or output file of a run. `name` is its path below the working folder, with `/` between folders. */
export type CodeFile = Readonly<{ name: string; content: Uint8Array }>;

export type CodeJob = Readonly<{
  /** Python. It is run as written; template syntax in it is not expanded. */
  code: string;
  /** Staged as `state.json`. */
  state: unknown;
  /** Staged as `inputs/<name>`. */
  inputs: readonly CodeFile[];
  /** Counted from the moment when a started interpreter receives the code. */
  timeoutMs: number;
}>;

/**
 * Why a run failed. `error`: the code raised an exception, and the text is its traceback. `output`: it printed or wrote more than a
 * run may. `unavailable`: no interpreter was available; the same run may succeed later.
 */
export type CodeFailure = Readonly<{ kind: 'error' | 'timeout' | 'memory' | 'output' | 'unavailable'; text: string }>;

export type CodeResult = Readonly<{
  stdout: string;
  stderr: string;
  /** The files that the code left in its folder, except `inputs/` and `state.json`. Empty if the run failed. */
  files: readonly CodeFile[];
  failure: CodeFailure | null;
}>;

/** Runs users' Python in a sandbox without network, other processes, environment variables, or files other than its own. */
export abstract class CodeRunner {
  /**
   * Owners take turns. `prepare` is called when the run's turn has come, because its files are in memory from then on. Returns
   * failures of the code as results. @throws the error of `prepare`; the signal's reason; Rejection `code-disabled` if code is switched off
   */
  abstract run(ownerId: string, prepare: () => Promise<CodeJob>, signal: AbortSignal): Promise<CodeResult>;
  /** Ends all runs. */
  abstract close(): Promise<void>;
}
