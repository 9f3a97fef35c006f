/** `keyreeve mail …`: how mail reads, and whether it arrives. */
import { Argument, Command, Option } from 'commander';
import { languages, type Language } from '@keyreeve/contract';
import { parseEmail } from '../modules/accounts/email.ts';
import { systemClock } from '../foundation/clock.ts';
import { ConfigError, processEnvironment, readConfig, type Config } from '../app/config.ts';
import { randomId } from '../foundation/crypto/secret.ts';
import type { MailMessage, MailTemplate } from '../modules/mail/mail.ts';
import { render } from '../modules/mail/render.ts';
import { operatorName, parseSender } from '../modules/mail/sender.ts';
import { SmtpServer } from '../modules/mail/smtp.ts';
import { samples } from '../modules/mail/templates/samples.ts';
import { templateNames } from '../modules/mail/templates/templates.ts';
import { testMail } from '../modules/mail/test-mail.ts';
import { mailTemplates } from '../app/wiring.ts';
import { UsageError } from './failure.ts';
import { jsonHelp, print, type OutputOptions } from './output.ts';

interface PreviewOptions extends OutputOptions {
  readonly html?: boolean;
  readonly language?: Language;
}

export function mailCommand(): Command {
  const mail = new Command('mail').description('Mail: how it reads, and whether it arrives.');
  mail
    .command('preview')
    .description('Print a mail as it would be sent, with values made up, from the templates in force.')
    .addArgument(new Argument('<template>', 'which').choices(templateNames))
    .option('--html', 'its HTML instead of its text')
    .addOption(new Option('--language <language>', 'instead of KEYREEVE_LANGUAGE').choices(languages))
    .option('--json', jsonHelp)
    .action(preview);
  mail
    .command('test')
    .description('Send a test to an address, with the configured mail server, and print what that said.')
    .argument('<address>', 'who gets it')
    .option('--json', jsonHelp)
    .action(sendTest);
  return mail;
}

function preview(template: MailTemplate, { html = false, language, ...options }: PreviewOptions): void {
  const config = readConfig(processEnvironment());
  const message: MailMessage = { to: 'you@example.com', template, data: samples[template] };
  const rendered = render(mailTemplates(config), productIn(config), message, language ?? config.language);
  print(options, rendered, html ? rendered.html.trimEnd() : `${rendered.subject}\n\n${rendered.text.trimEnd()}`);
}

async function sendTest(address: string, options: OutputOptions): Promise<void> {
  const config = readConfig(processEnvironment());
  if (!parseEmail(address)) throw new UsageError('that is not an email address');
  if (config.smtpUrl === undefined || config.mailFrom === undefined)
    throw new ConfigError(['KEYREEVE_SMTP_URL and KEYREEVE_MAIL_FROM are not set, so no mail is sent']);
  const server = new SmtpServer(config.smtpUrl, parseSender(config.mailFrom));
  const mail = { ...testMail(productIn(config)), id: randomId('msg'), to: address, writtenAt: systemClock.now() };
  const { messageId, response } = await server.send(mail);
  print(
    options,
    { to: address, messageId, response },
    `Sent to ${address} as ${messageId}. The mail server: ${response}`,
  );
}

const productIn = ({ mailFrom, publicUrl = 'http://localhost' }: Config): string => operatorName(mailFrom, publicUrl);
