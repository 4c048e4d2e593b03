import { Module } from '@nestjs/common';
import { AuditLogQueries } from '../../../projections/audit-log/audit-log.queries.js';
import { AuditController } from './audit.http.js';

@Module({ controllers: [AuditController], providers: [AuditLogQueries] })
export class AuditModule {}
