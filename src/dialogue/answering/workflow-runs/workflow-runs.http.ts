import { Controller, Get, Param } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { FAMILIES } from '../../../kernel/access.js';
import { isId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Access } from '../../../platform/http/access.js';
import { reached } from '../../../resources/identity/access.policy.js';
import type { SignedInUser } from '../../../resources/identity/caller.js';
import { CurrentUser } from '../../../resources/identity/identity.http.js';
import { RunRecords } from './run-records.js';
import { workflowRunRecord } from './workflow-run-record.http.js';

const workflowRunNotFound = () => new Rejection('workflow-run-not-found', 'Workflow run not found');

/** Reads workflow runs, for the users for whom they ran. The owner of a shared workflow does not see what others asked it. */
@ApiTags('Workflows')
@Controller('api/workflow_runs')
export class WorkflowRunsController {
  constructor(private readonly runs: RunRecords) {}

  @Access({ for: 'user', action: 'read', of: 'workflow runs', scopes: ['workflows:read'], closedToRestricted: FAMILIES })
  @Get(':id')
  @ApiOperation({ summary: 'A workflow run, with its status and its steps.' })
  async one(@CurrentUser() user: SignedInUser, @Param('id') id: string) {
    const run = isId(id) ? await this.runs.byId(id) : undefined;
    reached(user, run?.started, workflowRunNotFound);
    return { success: true, data: workflowRunRecord(run!) };
  }
}
