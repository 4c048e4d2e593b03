import { Injectable } from '@nestjs/common';
import { JobBook, type JobReport } from './job-book.js';
import {
  type CallArguments,
  filledAction,
  textArgument,
  unknownAction,
} from '../../resources/tools/toolbox/call-arguments.policy.js';
import type { ActionDefinition } from '../../resources/tools/toolbox/tool.events.js';
import { type CallContext, ToolFailed, ToolKind, type UsedTool } from '../../resources/tools/toolbox/tool-kind.port.js';

const ACTIONS: readonly ActionDefinition[] = [
  filledAction(
    'check_job',
    'Tells how a background job of this conversation stands, and its result once it is over. Do not ask again and again: the conversation goes on by itself when a job is over.',
    'read',
    { job_id: { type: 'string', description: 'The job_id that the call was answered with.' } },
  ),
];

/** The tool with which a model checks the status of its background jobs. */
@Injectable()
export class CheckJobTool extends ToolKind {
  override readonly name = 'check_job';
  override readonly displayName = 'Background jobs';
  override readonly description = 'Looks how calls stand that go on in the background.';
  override readonly internal = true;
  override readonly configFields = {};
  override readonly actions: readonly ActionDefinition[];

  constructor(private readonly jobs: JobBook) {
    super();
    this.actions = jobs.isKept ? ACTIONS : [];
  }

  async run({ name }: ActionDefinition, args: CallArguments, _: UsedTool, context: CallContext): Promise<JobReport> {
    if (name !== 'check_job') throw unknownAction(name);
    const { userId: ownerId, conversationId, cause } = context;
    const report = await this.jobs.check(textArgument(args, 'job_id'), { ownerId, conversationId, cause });
    if (!report) throw new ToolFailed('There is no such job in this conversation.');
    return report;
  }
}
