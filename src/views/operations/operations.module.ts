import { Module } from '@nestjs/common';
import { OperationsController } from './operations.http.js';

/** Health, readiness and measurements. Whoever composes the application provides `Conditions` and `Measurements`. */
@Module({ controllers: [OperationsController] })
export class OperationsModule {}
