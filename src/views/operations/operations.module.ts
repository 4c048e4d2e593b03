import { Module } from '@nestjs/common';
import { OperationsController } from './operations.http.js';

/** Health, readiness and measurements. The application module provides `Conditions` and `Measurements`. */
@Module({ controllers: [OperationsController] })
export class OperationsModule {}
