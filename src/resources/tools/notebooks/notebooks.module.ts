import { Module } from '@nestjs/common';
import { ArtifactsController } from './artifacts.http.js';
import { Notebooks } from './notebooks.js';

@Module({ controllers: [ArtifactsController], providers: [Notebooks], exports: [Notebooks] })
export class NotebooksModule {}
