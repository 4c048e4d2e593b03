/** If slots that are older than this are still undecided, the scheduler counts as behind. */
export const SCHEDULER_BEHIND_MAX_MS = 15 * 60_000;

/** Lets every process know whether due slots are being decided. */
export abstract class SchedulerHeartbeat {
  /** Reports that all slots due by `now` are decided. */
  abstract beat(now: Date): Promise<void>;
  /** Whether a scheduler is running and at most SCHEDULER_BEHIND_MAX_MS behind; false if that is unknown. */
  abstract isKeepingUp(now: Date): Promise<boolean>;
}
