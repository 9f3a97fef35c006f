/** The service with the console: open sign-up, management keys, and a mail server that receives its mail. */
import { Secret } from '../../../server/src/foundation/crypto/secret.ts';
import { FakeClock } from '../../../server/test-kit/fake-clock.ts';
import { Mailbox } from '../../../server/test-kit/mailbox.ts';
import { goodPassword, newApp, operator, type TestApp, type TestAppOptions } from '../../../server/test-kit/new-app.ts';

export interface InstallationOptions extends TestAppOptions {
  /** Then the console asks for the first administrator. */
  readonly hasNoAdministrator?: boolean;
}

export interface Installation extends AsyncDisposable {
  readonly app: TestApp;
  readonly mailbox: Mailbox;
}

/** By default requests have no rate limits, because all visitors have the same client IP, and the clock starts now. */
export async function newInstallation({
  environment = {},
  hasNoAdministrator = false,
  ...options
}: InstallationOptions = {}): Promise<Installation> {
  const mailbox = await Mailbox.start();
  try {
    const app = await newApp({
      areRequestsLimited: false,
      clock: new FakeClock(Date.now()),
      environment: {
        ...mailbox.environment,
        KEYREEVE_SIGNUP: 'open',
        KEYREEVE_CONSOLE_MANAGEMENT_KEYS: 'on',
        ...environment,
      },
      ...options,
    });
    if (!hasNoAdministrator)
      await app.service.services.accounts.create(operator, 'root@example.com', new Secret(goodPassword), 'admin');
    return {
      app,
      mailbox,
      [Symbol.asyncDispose]: async () => {
        await app[Symbol.asyncDispose]();
        await mailbox[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await mailbox[Symbol.asyncDispose]();
    throw error;
  }
}
