/** The mail server of the configuration, and its connection with the outbox. */
import { parseEmail } from '../../modules/accounts/email.ts';
import { findLanguage } from '../../modules/accounts/store.ts';
import type { Clock } from '../../foundation/clock.ts';
import { MailTest } from '../../modules/administration/mail-test.ts';
import { OutboxView } from '../../modules/administration/outbox-view.ts';
import { MailLog } from '../../modules/mail-log/mail-log.ts';
import { AccessTokens } from '../../modules/mail/access-tokens.ts';
import { deliverMail, renderDecoy, type DeliveryOptions } from '../../modules/mail/delivery.ts';
import { parseSender } from '../../modules/mail/sender.ts';
import { SmtpServer } from '../../modules/mail/smtp.ts';
import { readTemplates, type Templates } from '../../modules/mail/templates/templates.ts';
import { ConfigError, latestSecret, type Config, type Environment } from '../configuration/config.ts';
import { smtpOauthOf } from '../configuration/mail-config.ts';
import type { WiringCore } from './core.ts';
import type { SignInServices } from './sign-in.ts';

/** @throws ConfigError with all errors in the operator's templates */
export function mailTemplates(config: Config): Templates {
  const { templates, mistakes } = readTemplates(config.mailTemplates, config);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return templates;
}

/**
 * @param environment the source of the configuration, whose files of secrets can change
 * @returns undefined without a mail server
 */
export function mailServerOf(config: Config, clock: Clock, environment: Environment): SmtpServer | undefined {
  const { smtpUrl, mailFrom, mayMailBePlain: mayBePlain } = config;
  if (smtpUrl === undefined || mailFrom === undefined) return undefined;
  const oauth = smtpOauthOf(config);
  const latestUrl = latestSecret(config, 'smtpUrl', environment);
  const latestClientSecret = latestSecret(config, 'smtpOauthClientSecret', environment);
  const user = decodeURIComponent(new URL(smtpUrl).username);
  const accessTokens =
    oauth &&
    new AccessTokens({ ...oauth, clientSecret: () => latestClientSecret() ?? oauth.clientSecret, clock, user });
  return new SmtpServer(() => latestUrl() ?? smtpUrl, parseSender(mailFrom), {
    mayBePlain,
    accessTokens,
    mark: config.mark,
  });
}

export function wireMail(wiring: WiringCore, { accounts, requests }: SignInServices) {
  const { core, outbox, mailer, links, codes, look } = wiring;
  const mailLog = new MailLog(core);
  return {
    codes,
    links,
    mailer,
    mailLog,
    mailTest: new MailTest({ clock: core.clock, accounts, requests, look, server: handleMail(wiring, mailLog) }),
    outbox,
    outboxView: new OutboxView({ ...core, outbox }),
  };
}

/** @returns undefined without a mail server */
function handleMail(
  { config, core, codes, environment, links, outbox, product }: WiringCore,
  { recordTx }: MailLog,
): SmtpServer | undefined {
  const server = mailServerOf(config, core.clock, environment);
  if (!server) return undefined;
  let templates: Templates | undefined;
  const delivery: DeliveryOptions = {
    ...core,
    codes,
    links,
    product,
    server,
    templates: () => (templates ??= mailTemplates(config)),
    languageOf: (email) => findLanguage(core.db, parseEmail(email)?.canonicalEmail ?? ''),
    defaultLanguage: config.language,
    recordTx,
  };
  outbox.handle('mail', deliverMail(delivery));
  outbox.handle('decoy', renderDecoy(delivery));
  return server;
}
