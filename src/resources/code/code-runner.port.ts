/** A file that goes into or comes out of a run: its path below the working folder, with `/` between folders. */
export type CodeFile = Readonly<{ name: string; content: Uint8Array }>;

export type CodeJob = Readonly<{
  /** Python, taken as it is written: nothing in it is a template. */
  code: string;
  /** Staged as `state.json`. */
  state: unknown;
  /** Staged as `inputs/<name>`. */
  inputs: readonly CodeFile[];
  /** From when an interpreter that has started is given the code. */
  timeoutMs: number;
}>;

/**
 * Why a run did not end well. `error`: the code raised, and the text is its traceback. `output`: it printed or wrote more than a run
 * may. `unavailable`: no interpreter could be had; the same run may succeed later.
 */
export type CodeFailure = Readonly<{ kind: 'error' | 'timeout' | 'memory' | 'output' | 'unavailable'; text: string }>;

export type CodeResult = Readonly<{
  stdout: string;
  stderr: string;
  /** What the code left in its folder beside `inputs/` and `state.json`; none where the run failed. */
  files: readonly CodeFile[];
  failure: CodeFailure | null;
}>;

/** Runs Python of users, where it reaches nothing: no network, no file but its own, no process, no environment. */
export abstract class CodeRunner {
  /** Every outcome of the code is a result. @throws the signal's reason; Rejection `code-disabled`, where code does not run here */
  abstract run(job: CodeJob, signal: AbortSignal): Promise<CodeResult>;
  /** Ends what runs. */
  abstract close(): Promise<void>;
}
