import { KeyValueUnavailable, type KeyValue } from '../../kernel/messaging/key-value.js';
import { holdLease, holdSlot, type Lease } from '../../kernel/messaging/lease.js';
import { Rejection } from '../../kernel/rejection.js';
import type { Timing } from '../../kernel/timing.js';
import { BackgroundCalls, type LongCall, type LongWork } from '../../dialogue/answering/loop/background-calls.port.js';
import { StartJob } from './job.commands.js';
import type { JobId, JobProgress, JobStarted } from './job.events.js';
import { progressAfter } from './job-progress.policy.js';
import { mayRunLong } from '../../resources/tools/toolbox/long-calls.policy.js';
import { conversationSlots, jobIdOf, jobLease, ownerSlots } from './job.policy.js';
import type { JobOptions } from './job-options.js';
import { type JobParts, RunningJob, type WorkResult, type Work } from './running-job.js';
import type { ToolReport } from '../../resources/tools/toolbox/tool-kind.port.js';

/** The append of a job's beginning is retried this long while the store is unavailable. After that the turn fails. */
const START_PATIENCE_MS = 20_000;
const ACTOR = 'system:jobs';

/** The result of a call that has become a job, as the model reads it. */
export type RunningNote = Readonly<{
  status: 'running';
  job_id: JobId;
  started_as: 'background';
  elapsed_s: number;
  note: string;
}>;

/**
 * Waits for the calls of turns and turns long calls into jobs. For a job it claims a slot of the conversation and of the user,
 * checks the limit of this process, and records the beginning; then the turn continues. Without a free slot the turn keeps
 * waiting for the call, and the runner tries again later.
 */
export class JobRunner extends BackgroundCalls {
  /** The id of this process in its jobs and their leases. */
  readonly id: string;
  private readonly running = new Map<JobId, RunningJob>();
  /** Number of jobs that are just starting. They count against the limit of this process. */
  private starting = 0;
  private closing = false;

  constructor(
    private readonly parts: JobParts,
    private readonly keyValue: KeyValue,
    private readonly options: JobOptions,
  ) {
    super();
    this.id = parts.ids.next();
  }

  async run(call: LongCall, signal: AbortSignal, perform: LongWork): Promise<unknown> {
    const { enabled, yieldMs, jobMsMax: msMax } = this.options.settings;
    if (!enabled || !mayRunLong(call.call.toolName)) return perform(signal);
    const controller = new AbortController();
    const begun = new AbortController();
    const onAbort = () => controller.abort(signal.reason);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    const begunAt = this.parts.clock.now();
    const begunMs = this.parts.timing.elapsedMs();
    let progress: JobProgress | null = null;
    const report = (said: ToolReport) => void (progress = progressAfter(progress, said));
    const done = resultOf(perform(controller.signal, { begun: begun.signal, msMax, report }));
    const work: Work = { begunMs, done, controller, progress: () => progress };
    try {
      for (;;) {
        const ended = await within(this.parts.timing, yieldMs, work.done);
        if (ended) return valueOf(ended);
        if (signal.aborted || !(await this.begin(call, begunAt, work))) continue;
        begun.abort();
        return this.note(call, begunMs);
      }
    } catch (error) {
      // Nobody waits for the call any more, so it is aborted.
      controller.abort(error);
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Starts no more jobs, lets the running ones finish for `graceMs`, then abandons them and records them as lost. */
  async close(graceMs: number): Promise<void> {
    this.closing = true;
    const over = () => Promise.all([...this.running.values()].map((running) => running.over));
    await within(this.parts.timing, graceMs, over());
    for (const running of this.running.values()) running.leave();
    await over();
  }

  /** Tries to make a job of the call. Returns whether it is a job now. @throws StoreUnavailable */
  private async begin(call: LongCall, begunAt: Date, work: Work): Promise<boolean> {
    if (this.closing || this.running.size + this.starting >= this.options.settings.perProcessMax) return false;
    this.starting++;
    try {
      const started = this.beginningOf(call, begunAt);
      const claim = await this.claim(started);
      if (!claim) return false;
      if (!(await this.state(started, call).catch(releasing(claim.leases)))) return claim.release();
      this.follow(started, work, call, claim);
      return true;
    } finally {
      this.starting--;
    }
  }

  private follow(started: JobStarted['data'], work: Work, { cause }: LongCall, { lease, release }: Claim): void {
    const running = new RunningJob(this.parts, started, work, { ...cause, actor: ACTOR, credential: 'system' });
    lease.lost.addEventListener('abort', () => running.leave(), { once: true });
    this.running.set(started.jobId, running);
    void running.over.then(async () => {
      this.running.delete(started.jobId);
      await release();
    });
  }

  /** Records the beginning of the job. False if the same call is already a job of another process. */
  private async state(started: JobStarted['data'], { cause }: LongCall): Promise<boolean> {
    const { streams, commands } = this.parts;
    try {
      await streams.retryWhileUnavailable(START_PATIENCE_MS, () => commands.execute(new StartJob(started, cause)));
      return true;
    } catch (error) {
      if (error instanceof Rejection && error.code === 'job-exists') return false;
      throw error;
    }
  }

  /**
   * Claims a slot of the conversation, a slot of the user and the job's lease; undefined if one of them is not free or the store
   * is unavailable.
   */
  private async claim({ jobId, ownerId, conversationId }: JobStarted['data']): Promise<Claim | undefined> {
    const { staleMs, perConversationMax, perUserMax } = this.options.settings;
    const { timing, ids } = this.parts;
    const options = { ttlMs: staleMs, holder: this.id, timing, ids };
    const leases: Lease[] = [];
    const claims = [
      () => holdSlot(this.keyValue, conversationSlots(conversationId), perConversationMax, options),
      () => holdSlot(this.keyValue, ownerSlots(ownerId), perUserMax, options),
      () => holdLease(this.keyValue, jobLease(jobId), options),
    ];
    try {
      for (const hold of claims) {
        const lease = await hold();
        if (!lease) return void (await releaseAll(leases));
        leases.push(lease);
      }
    } catch (error) {
      await releaseAll(leases);
      if (error instanceof KeyValueUnavailable) return undefined;
      throw error;
    }
    return { lease: leases.at(-1)!, leases, release: () => releaseAll(leases) };
  }

  private beginningOf(call: LongCall, begunAt: Date): JobStarted['data'] {
    const { conversationId, userId: ownerId, turnId, agentId, hasEffects } = call;
    const { callId, toolId, toolName, actionName, arguments: args } = call.call;
    const { jobMsMax, autoResume } = this.options.settings;
    const tool = { toolId, toolName, actionName, arguments: args, hasEffects };
    const times = { begunAt: begunAt.toISOString(), deadlineAt: new Date(begunAt.getTime() + jobMsMax).toISOString() };
    return {
      jobId: jobIdOf(turnId, callId),
      conversationId,
      ownerId,
      turnId,
      callId,
      agentId,
      ...tool,
      runner: this.id,
      ...times,
      autoResume,
    };
  }

  private note({ turnId, call }: LongCall, begunMs: number): RunningNote {
    const elapsed = this.parts.timing.elapsedMs() - begunMs;
    const { autoResume } = this.options.settings;
    const after = autoResume ? ' When it is over, the conversation goes on by itself.' : '';
    return {
      status: 'running',
      job_id: jobIdOf(turnId, call.callId),
      started_as: 'background',
      elapsed_s: Math.round(elapsed / 1000),
      note: `The call goes on in the background and is not to be repeated. check_job tells how it stands.${after}`,
    };
  }
}

type Claim = Readonly<{ lease: Lease; leases: readonly Lease[]; release: () => Promise<false> }>;

async function releaseAll(leases: readonly Lease[]): Promise<false> {
  await Promise.all(leases.map((lease) => lease.release()));
  return false;
}

const releasing = (leases: readonly Lease[]) => async (error: unknown) => {
  await releaseAll(leases);
  throw error;
};

const resultOf = (work: Promise<unknown>): Promise<WorkResult> =>
  work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );

function valueOf(ended: WorkResult): unknown {
  if ('value' in ended) return ended.value;
  throw ended.error;
}

/** Resolves to the value of the work, or to undefined if that takes longer. */
function within<T>(timing: Timing, ms: number, work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const cancel = timing.after(ms, () => resolve(undefined));
    void work.then((value) => {
      cancel();
      resolve(value);
    });
  });
}
