/** Sends an administrator a test mail, which shows whether mail arrives. */
import type { MailTestResult } from '@keyreeve/contract';
import type { Clock } from '../../foundation/clock.ts';
import { randomId } from '../../foundation/crypto/secret.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { AccountPrincipal } from '../../foundation/principal.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Look } from '../look/look.ts';
import type { SmtpServer } from '../mail/smtp.ts';
import { testMail } from '../mail/test-mail.ts';
import { JobFailure } from '../outbox/job.ts';
import type { RequestLimits } from '../rate-limits/request-limits.ts';

export interface MailTestOptions {
  readonly clock: Clock;
  readonly accounts: Accounts;
  readonly requests: RequestLimits;
  /** Undefined without a mail server. */
  readonly server: SmtpServer | undefined;
  readonly look: Look;
}

/** A response of HTTP cannot wait as long as the outbox. */
const sendMsMax = 60_000;

export class MailTest {
  readonly #options: MailTestOptions;

  constructor(options: MailTestOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the mail server has answered, at the latest after 60 s. A failure is a result.
   * @throws DomainError `mail_not_configured`, `too_many_requests`
   */
  async send({ accountId }: AccountPrincipal): Promise<MailTestResult> {
    const { clock, accounts, requests, server, look } = this.#options;
    if (!server) throw new DomainError('mail_not_configured');
    const { email: to } = await accounts.findById(accountId);
    await requests.countTestMail(accountId);
    const mail = { ...testMail(look), id: randomId('msg'), to, writtenAt: clock.now() };
    try {
      const { response } = await server.send(mail, { msMax: sendMsMax });
      return { to, delivered: true, response, failure: null };
    } catch (error) {
      if (!(error instanceof JobFailure)) throw error;
      return { to, delivered: false, response: null, failure: error.message };
    }
  }
}
