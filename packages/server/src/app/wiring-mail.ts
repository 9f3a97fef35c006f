/** Connects the outbox with the mail server. `wiring.ts` calls it. */
import { parseEmail } from '../modules/accounts/email.ts';
import { findLanguage } from '../modules/accounts/store.ts';
import type { Db } from '../foundation/database/db.ts';
import { deliverMail, renderDecoy } from '../modules/mail/delivery.ts';
import { parseSender } from '../modules/mail/sender.ts';
import { SmtpServer } from '../modules/mail/smtp.ts';
import { readTemplates, type Templates } from '../modules/mail/templates/templates.ts';
import type { Outbox } from '../modules/outbox/outbox.ts';
import { ConfigError, latestSecret, type Config, type Environment } from './config.ts';

/** @throws ConfigError with all errors in the operator's templates */
export function mailTemplates({ mailTemplates: folder }: Config): Templates {
  const { templates, mistakes } = readTemplates(folder);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return templates;
}

interface MailParts {
  readonly db: Db;
  readonly config: Config;
  readonly product: string;
  /** The source of the configuration. */
  readonly environment: Environment;
}

/** @returns undefined without a mail server */
export function handleMail(outbox: Outbox, { db, config, product, environment }: MailParts): SmtpServer | undefined {
  const { smtpUrl, mailFrom } = config;
  if (smtpUrl === undefined || mailFrom === undefined) return undefined;
  const latestUrl = latestSecret(config, 'smtpUrl', environment);
  const server = new SmtpServer(() => latestUrl() ?? smtpUrl, parseSender(mailFrom));
  let templates: Templates | undefined;
  const delivery = {
    server,
    product,
    templates: () => (templates ??= mailTemplates(config)),
    languageOf: (email: string) => findLanguage(db, parseEmail(email)?.canonicalEmail ?? ''),
    defaultLanguage: config.language,
  };
  outbox.handle('mail', deliverMail(delivery));
  outbox.handle('decoy', renderDecoy(delivery));
  return server;
}
