import { Injectable } from '@nestjs/common';
import { ReadModels } from '../read-models.js';

/** The run of a delivery that is over, and where in the log that delivery is. */
export type OldWebhookRun = Readonly<{ id: string; since: Date; stream: string; revision: number }>;
/** A scheduled run that said something, a turn with a journal, or a sign-in, by its id. */
export type OldOutput = Readonly<{ id: string; since: Date }>;

/** What a turn that is over would have gone on from, named by its content. */
export type OldContinuation = Readonly<{ id: string; since: Date; turnId: string }>;

/** So many of the newest runs of each schedule are kept, however old they are. */
export const NEWEST_RUNS_KEPT = 50;

@Injectable()
export class ExpiringQueries {
  constructor(private readonly readModels: ReadModels) {}

  /** Runs of webhooks that were over before a time, those of longest ago first, after the last of the page before. */
  async webhookRuns(before: Date, limit: number, after?: OldWebhookRun): Promise<readonly OldWebhookRun[]> {
    const { since, id } = after ?? FIRST;
    return this.readModels.sql<OldWebhookRun[]>`
      select run_id as id, since, delivery_stream as stream, delivery_revision as revision
      from expiring.webhook_run where since < ${before} and (since, run_id) > (${since}, ${id})
      order by since, run_id limit ${limit}`;
  }

  /**
   * Scheduled runs that said something before a time and are not among the newest of their schedule. Which is the last of these is
   * looked up once for each schedule, and not for each of its old runs: those that are kept come up with every page.
   */
  async scheduledOutputs(before: Date, limit: number, after?: OldOutput): Promise<readonly OldOutput[]> {
    const { since, id } = after ?? FIRST;
    return this.readModels.sql<OldOutput[]>`
      with last_kept as materialized (
        select schedule.schedule_id, newest.queued_at, newest.run_id
        from (select distinct schedule_id from expiring.scheduled_output where since < ${before}) schedule
          cross join lateral (
            select queued_at, run_id from expiring.scheduled_output newer where newer.schedule_id = schedule.schedule_id
            order by queued_at desc, run_id limit 1 offset ${NEWEST_RUNS_KEPT - 1}
          ) newest
      )
      select old.run_id as id, since from expiring.scheduled_output old left join last_kept using (schedule_id)
      where since < ${before} and (since, old.run_id) > (${since}, ${id})
        and (schedule_id is null or old.queued_at < last_kept.queued_at
          or (old.queued_at = last_kept.queued_at and old.run_id > last_kept.run_id))
      order by since, id limit ${limit}`;
  }

  /** Journals that were complete before a time, by the ids of their turns. */
  async journals(before: Date, limit: number, after?: OldOutput): Promise<readonly OldOutput[]> {
    const { since, id } = after ?? FIRST;
    return this.readModels.sql<OldOutput[]>`
      select turn_id as id, since from expiring.journal
      where since < ${before} and (since, turn_id) > (${since}, ${id}) order by since, turn_id limit ${limit}`;
  }

  /** Researches that were over before a time, or begun where their end was not told, by the ids of their turns or runs. */
  async researches(before: Date, limit: number, after?: OldOutput): Promise<readonly OldOutput[]> {
    const { since, id } = after ?? FIRST;
    return this.readModels.sql<OldOutput[]>`
      select turn_id as id, since from expiring.research
      where since < ${before} and (since, turn_id) > (${since}, ${id}) order by since, turn_id limit ${limit}`;
  }

  /** Responses that were created before a time, by their ids. */
  async responses(before: Date, limit: number, after?: OldOutput): Promise<readonly OldOutput[]> {
    const { since, id } = after ?? FIRST;
    return this.readModels.sql<OldOutput[]>`
      select response_id as id, since from expiring.response
      where since < ${before} and (since, response_id) > (${since}, ${id}) order by since, response_id limit ${limit}`;
  }

  /** The responses that are made from the journals of turns, by their ids. */
  async responsesOf(turnIds: readonly string[]): Promise<readonly string[]> {
    const rows = await this.readModels.sql<{ id: string }[]>`
      select response_id as id from expiring.response where left(response_id, 36) = any(${[...turnIds]}) order by id`;
    return rows.map(({ id }) => id);
  }

  /** Conversations that were deleted and whose texts are still there, by their ids. */
  async deletedConversations(limit: number, after?: OldOutput): Promise<readonly OldOutput[]> {
    const { since, id } = after ?? FIRST;
    return this.readModels.sql<OldOutput[]>`
      select conversation_id as id, since from expiring.deleted_conversation
      where (since, conversation_id) > (${since}, ${id}) order by since, conversation_id limit ${limit}`;
  }

  /** Sign-ins at tool servers that were to be over before a time and are not. */
  async signIns(before: Date, limit: number, after?: OldOutput): Promise<readonly OldOutput[]> {
    const { since, id } = after ?? FIRST;
    return this.readModels.sql<OldOutput[]>`
      select handshake_id as id, since from expiring.sign_in
      where since < ${before} and (since, handshake_id) > (${since}, ${id}) order by since, handshake_id limit ${limit}`;
  }

  /** What paused turns were to go on from that were over before a time. */
  async continuations(before: Date, limit: number, after?: OldContinuation): Promise<readonly OldContinuation[]> {
    const { since, id } = after ?? FIRST;
    return this.readModels.sql<OldContinuation[]>`
      select sha256 as id, since, turn_id as "turnId" from expiring.continuation
      where since < ${before} and (since, sha256) > (${since}, ${id}) order by since, sha256 limit ${limit}`;
  }
}

const FIRST = { since: new Date(0), id: '' };
