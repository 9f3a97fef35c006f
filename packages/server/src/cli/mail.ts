/** `keyreeve mail …`: previews mails and tests their delivery. */
import { Argument, Option, type Command } from 'commander';
import { languages, type Language } from '@keyreeve/contract';
import { parseEmail } from '../modules/accounts/email.ts';
import { systemClock } from '../foundation/clock.ts';
import { ConfigError, processEnvironment, readConfig, type Config } from '../app/configuration/config.ts';
import { randomId } from '../foundation/crypto/secret.ts';
import type { MailMessage, MailTemplate } from '../modules/mail/mail.ts';
import { render } from '../modules/mail/render.ts';
import type { Look } from '../modules/look/look.ts';
import { lookOf } from '../app/configuration/look-config.ts';
import { samples } from '../modules/mail/templates/samples.ts';
import { templateNames } from '../modules/mail/templates/templates.ts';
import { testMail } from '../modules/mail/test-mail.ts';
import { mailServerOf, mailTemplates } from '../app/wiring/mail.ts';
import { CliCommand } from './command.ts';
import { UsageError } from './failure.ts';
import { print, type OutputOptions } from './output.ts';

interface PreviewOptions extends OutputOptions {
  readonly html?: boolean;
  readonly language?: Language;
}

export function mailCommand(): Command {
  const mail = new CliCommand('mail')
    .group('operate')
    .description('Preview mails and test their delivery.')
    .references('docs/mail.md', 'smtpUrl', 'mailFrom', 'mailTemplates', 'language');
  mail
    .command('preview')
    .description('Print a mail with sample values, from the templates in force.')
    .addArgument(new Argument('<template>', 'name of the template').choices(templateNames))
    .option('--html', 'print the HTML part instead of the text')
    .addOption(
      new Option('--language <language>', 'language of the mail (default: KEYREEVE_LANGUAGE)').choices(languages),
    )
    .json()
    .examples('keyreeve mail preview verify_email', 'keyreeve mail preview verify_email --html --language de')
    .action(preview);
  mail
    .command('test')
    .description('Send a test mail and print the response of the mail server.')
    .argument('<email>', 'email address of the recipient')
    .json()
    .examples('keyreeve mail test you@example.com')
    .action(sendTest);
  return mail;
}

function preview(template: MailTemplate, { html = false, language, ...options }: PreviewOptions): void {
  const config = readConfig(processEnvironment());
  const message: MailMessage = { to: 'you@example.com', template, data: samples[template] };
  const rendered = render(mailTemplates(config), lookIn(config).operator, message, language ?? config.language);
  print(options, rendered, html ? rendered.html.trimEnd() : `${rendered.subject}\n\n${rendered.text.trimEnd()}`);
}

async function sendTest(email: string, options: OutputOptions): Promise<void> {
  const config = readConfig(processEnvironment());
  if (!parseEmail(email)) throw new UsageError(`“${email}” is not an email address`);
  const server = mailServerOf(config, systemClock, processEnvironment());
  if (!server) throw new ConfigError(['KEYREEVE_SMTP_URL and KEYREEVE_MAIL_FROM are not set, so no mail is sent']);
  const mail = { ...testMail(lookIn(config)), id: randomId('msg'), to: email, writtenAt: systemClock.now() };
  const { messageId, response } = await server.send(mail);
  print(options, { to: email, messageId, response }, `Sent to ${email} as ${messageId}. The mail server: ${response}`);
}

const lookIn = (config: Config): Look => lookOf(config, config.publicUrl ?? 'http://localhost');
