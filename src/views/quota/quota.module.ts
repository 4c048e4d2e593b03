import { Module } from '@nestjs/common';
import { LimitsModule } from '../../work/limits/limits.module.js';
import { QuotaController } from './quota.http.js';

/** What users have used of what they may use. */
@Module({ imports: [LimitsModule], controllers: [QuotaController] })
export class QuotaModule {}
