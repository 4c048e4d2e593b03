import { Module } from '@nestjs/common';
import { LimitsModule } from '../../work/limits/limits.module.js';
import { QuotaController } from './quota.http.js';

/** The quotas of users and how much of them is used. */
@Module({ imports: [LimitsModule], controllers: [QuotaController] })
export class QuotaModule {}
