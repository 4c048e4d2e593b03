/** Slots that came longer ago than this are not waited for any more: the scheduler is behind. */
export const SCHEDULER_BEHIND_MAX_MS = 15 * 60_000;

/** Whether slots that come are decided on, for every process to know. */
export abstract class SchedulerHeartbeat {
  /** Everything that had come by then is decided on. */
  abstract beat(now: Date): Promise<void>;
  /** Whether a scheduler is alive and behind by no more than SCHEDULER_BEHIND_MAX_MS; false where that is unknown. */
  abstract isKeepingUp(now: Date): Promise<boolean>;
}
