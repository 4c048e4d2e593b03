import { jobs } from '../../../projections/jobs/jobs.projection.js';
import postgres from 'postgres';
import { JobQueries, type JobRecord } from '../../../projections/jobs/jobs.queries.js';
import type { JobEvent } from '../../../src/background/jobs/job.events.js';
import { compared, TwinTables } from './twin-tables.js';

const NOTHING_YET = {
  cancel_requested: false,
  progress: null,
  output_tail: null,
  result: null,
  error: null,
  error_type: null,
  reported_by: null,
  finished_at: null,
};

/** The queries of tickers for background jobs, in memory. */
export class JobsTwin extends JobQueries {
  readonly tables = new TwinTables<JobEvent, 'job'>(jobs, {
    job: { key: 'job_id', times: ['started_at', 'deadline_at', 'finished_at'], defaults: NOTHING_YET },
  });

  constructor() {
    super(undefined as never);
  }

  override async working(limit: number, after?: JobRecord): Promise<readonly JobRecord[]> {
    const working = this.all().filter(({ status }) => status === 'working');
    return pageOf(working, ({ startedAt, jobId }) => [startedAt, jobId], limit, after);
  }

  override async unreported(limit: number, after?: JobRecord): Promise<readonly JobRecord[]> {
    const unreported = this.all().filter(
      ({ reportedBy, status, autoResume }) =>
        reportedBy === null && ['completed', 'failed', 'lost'].includes(status) && autoResume,
    );
    return pageOf(unreported, ({ finishedAt, jobId }) => [finishedAt!, jobId], limit, after);
  }

  private all(): JobRecord[] {
    const camelCased = (row: object) =>
      Object.entries(row).map(([column, value]) => [postgres.toCamel(column), value as unknown]);
    return this.tables.all('job').map((row) => Object.fromEntries(camelCased(row)) as JobRecord);
  }
}

function pageOf(jobs: JobRecord[], place: (job: JobRecord) => [Date, string], limit: number, after?: JobRecord) {
  jobs.sort((one, other) => compared(place(one), place(other)));
  return jobs.filter((each) => !after || compared(place(each), place(after)) > 0).slice(0, limit);
}
