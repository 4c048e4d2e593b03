import { Queries } from '../read-models.js';

/** A webhook run that has ended, and the place of its delivery in the log. */
export type OldWebhookRun = Readonly<{ id: string; since: Date; stream: string; revision: number }>;
/** An item that retention may delete, such as the output of a scheduled run, a journal or a sign-in. */
export type OldOutput = Readonly<{ id: string; since: Date }>;

/** The continuation of a sealed turn. `id`: the SHA-256 of its content. */
export type OldContinuation = Readonly<{ id: string; since: Date; turnId: string }>;

export class ExpiringQueries extends Queries {
  /** The time by the clock of the database. */
  async now(): Promise<Date> {
    return (await this.sql<{ now: Date }[]>`select now()`)[0]!.now;
  }

  /** Webhook runs that ended before a time, the oldest first. `after`: the last item of the previous page. */
  async webhookRuns(before: Date, limit: number, after?: OldWebhookRun): Promise<readonly OldWebhookRun[]> {
    const { since, id } = after ?? FIRST;
    return this.sql<OldWebhookRun[]>`
      select run_id as id, since, delivery_stream as stream, delivery_revision as revision
      from expiring.webhook_run where since < ${before} and (since, run_id) > (${since}, ${id})
      order by since, run_id limit ${limit}`;
  }

  /** Scheduled runs whose output is from before a time and that are not among the newest of their schedule. */
  async scheduledOutputs(before: Date, limit: number, after?: OldOutput): Promise<readonly OldOutput[]> {
    const { since, id } = after ?? FIRST;
    return this.sql<OldOutput[]>`
      select run_id as id, since from expiring.scheduled_output
      where schedule_id is null and since < ${before} and (since, run_id) > (${since}, ${id}) order by since, run_id limit ${limit}`;
  }

  /** Journals that were sealed before a time, by the ids of their turns. */
  async journals(before: Date, limit: number, after?: OldOutput): Promise<readonly OldOutput[]> {
    const { since, id } = after ?? FIRST;
    return this.sql<OldOutput[]>`
      select turn_id as id, since from expiring.journal
      where since < ${before} and (since, turn_id) > (${since}, ${id}) order by since, turn_id limit ${limit}`;
  }

  /**
   * Researches that ended before a time, by the ids of their turns or runs. One without a recorded end counts from its beginning.
   */
  async researches(before: Date, limit: number, after?: OldOutput): Promise<readonly OldOutput[]> {
    const { since, id } = after ?? FIRST;
    return this.sql<OldOutput[]>`
      select turn_id as id, since from expiring.research
      where since < ${before} and (since, turn_id) > (${since}, ${id}) order by since, turn_id limit ${limit}`;
  }

  /** Responses that were created before a time, by their ids. */
  async responses(before: Date, limit: number, after?: OldOutput): Promise<readonly OldOutput[]> {
    const { since, id } = after ?? FIRST;
    return this.sql<OldOutput[]>`
      select response_id as id, since from expiring.response
      where since < ${before} and (since, response_id) > (${since}, ${id}) order by since, response_id limit ${limit}`;
  }

  /** The ids of the responses that are read from the journals of these turns. */
  async responsesOf(turnIds: readonly string[]): Promise<readonly string[]> {
    const rows = await this.sql<{ id: string }[]>`
      select response_id as id from expiring.response where left(response_id, 36) = any(${[...turnIds]}) order by id`;
    return rows.map(({ id }) => id);
  }

  /** Conversations that are deleted but not purged yet. */
  async deletedConversations(limit: number, after?: OldOutput): Promise<readonly OldOutput[]> {
    const { since, id } = after ?? FIRST;
    return this.sql<OldOutput[]>`
      select conversation_id as id, since from expiring.deleted_conversation
      where (since, conversation_id) > (${since}, ${id}) order by since, conversation_id limit ${limit}`;
  }

  /** Unfinished sign-ins at tool servers that expired before a time. */
  async signIns(before: Date, limit: number, after?: OldOutput): Promise<readonly OldOutput[]> {
    const { since, id } = after ?? FIRST;
    return this.sql<OldOutput[]>`
      select handshake_id as id, since from expiring.sign_in
      where since < ${before} and (since, handshake_id) > (${since}, ${id}) order by since, handshake_id limit ${limit}`;
  }

  /** The continuations of turns that were sealed before a time. */
  async continuations(before: Date, limit: number, after?: OldContinuation): Promise<readonly OldContinuation[]> {
    const { since, id } = after ?? FIRST;
    return this.sql<OldContinuation[]>`
      select sha256 as id, since, turn_id as "turnId" from expiring.continuation
      where since < ${before} and (since, sha256) > (${since}, ${id}) order by since, sha256 limit ${limit}`;
  }
}

const FIRST = { since: new Date(0), id: '' };
