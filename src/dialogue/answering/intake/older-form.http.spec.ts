import { expect, it } from '@jest/globals';
import type { CallHandler, ExecutionContext } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { lastValueFrom } from 'rxjs';
import { InOlderForm } from './older-form.http.js';
import type { AnswerRequest } from './older-form.port.js';

it('a client of the older form that left while its question was being accepted is known to be gone', async () => {
  const form = { answer: async ({ gone }: AnswerRequest) => ({ isGone: gone().aborted }) };
  const http = {
    getRequest: () => ({ body: {}, identity: {} }),
    getResponse: () => ({ raw: { destroyed: true, once: () => undefined } }),
  };
  const context = { switchToHttp: () => http } as unknown as ExecutionContext;
  const answer = new InOlderForm({ get: () => form } as unknown as ModuleRef).intercept(
    context,
    {} as CallHandler<Readonly<{ answer: string }>>,
  );
  expect(await lastValueFrom(answer)).toEqual({ isGone: true });
});
