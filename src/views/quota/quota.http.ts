import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { CurrentUser } from '../../resources/identity/identity.http.js';
import { LastWrites } from '../../kernel/event-sourcing/last-writes.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { QuotaUse } from '../../work/limits/quota-use.port.js';
import { Access } from '../../platform/http/access.js';

type Limit = Readonly<{ limit: number | null; source: 'instance' | null; source_id: null }>;

const unlimited: Limit = { limit: null, source: null, source_id: null };

/** The quotas of users and how much of them is used. */
@ApiTags('Usage')
@Controller('api/user')
export class QuotaController {
  constructor(
    private readonly quota: QuotaUse,
    private readonly freshness: Freshness,
    private readonly lastWrites: LastWrites,
  ) {}

  @ApiOperation({ summary: "The caller's own limits, their use, and when they are renewed" })
  @Access({ for: 'user', action: 'describe', of: 'users', scopes: 'any-token' })
  @Get('quota')
  async own(@CurrentUser() { userId }: SignedInUser) {
    await this.freshness.reached(['usage'], this.lastWrites.of(userId));
    const { direct, agent, period } = await this.quota.used(userId);
    const { tokensPerUser } = this.quota;
    const limit: Limit = tokensPerUser === undefined ? unlimited : { ...unlimited, limit: tokensPerUser, source: 'instance' };
    const bucket = (name: string, used: number, tokens: Limit) => ({
      bucket: name,
      tokens: { ...tokens, used },
      // The service knows no prices of models.
      cost: { ...unlimited, used: 0 },
      resets_at: period.end.toISOString(),
    });
    return {
      success: true,
      period: this.quota.period,
      starts_at: period.start.toISOString(),
      resets_at: period.end.toISOString(),
      buckets: [
        bucket('all', direct.tokens + agent.tokens, limit),
        bucket('direct', direct.tokens, unlimited),
        bucket('agent', agent.tokens, unlimited),
      ],
    };
  }
}
