/** A program on a device, as the pages about approvals and programs need it. */
import type { Page } from 'playwright-core';
import type { DeviceAuthorization } from '@keyreeve/contract';
import { DomainError } from '../../../server/src/foundation/errors.ts';
import { program } from '../../../server/test-kit/device-client.ts';
import { operator, type TestApp } from '../../../server/test-kit/new-app.ts';

export { program };

/** Other scenes or tests may have declared it. */
export async function declareProgram({ service }: TestApp, declared: typeof program = program): Promise<void> {
  try {
    await service.services.programs.add(operator, declared);
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'program_taken') throw error;
  }
}

/** @param clientIp of the program; browsers of tests have 127.0.0.1 */
export async function beginSignIn(app: TestApp, clientIp = '127.0.0.1'): Promise<DeviceAuthorization> {
  await declareProgram(app);
  return app.service.services.deviceRequests.begin(program.id, '', clientIp);
}

/** Enters the code on the open page. */
export async function enterCode(page: Page, code: string): Promise<void> {
  await page.locator('main [name=code]').fill(code);
  await page.locator('main [type=submit]').click();
}
