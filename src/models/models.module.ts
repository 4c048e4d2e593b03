import { Module } from '@nestjs/common';
import { ModelsController } from './models.http.js';

@Module({ controllers: [ModelsController] })
export class ModelsModule {}
