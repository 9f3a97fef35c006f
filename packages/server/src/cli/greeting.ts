/**
 * What `keyreeve serve` shows when it listens: a log line, and on a terminal some lines for a person. While there is no administrator,
 * the last line is the link with the code for the first one.
 */
import type { Config } from '../app/configuration/config.ts';
import { masterKeyPath } from '../app/installation/earlier-installation.ts';
import type { FirstStart } from '../app/installation/first-start.ts';
import type { Service } from '../app/service.ts';
import { toInstant } from '../foundation/clock.ts';
import { describeDatabase } from '../foundation/database/database.ts';
import type { Log } from '../foundation/log.ts';
import { standardOutput } from '../foundation/log-output.ts';
import { build, version, versionAndBuild } from './output.ts';

/** @param first undefined if there is an administrator, or no console */
export async function greet(service: Service, config: Config, log: Log, first: FirstStart | undefined): Promise<void> {
  const { database: location, masterKey } = config;
  const { url, adminUrl, verifyUrl, publicUrl } = service;
  const keyPath = masterKey || location.kind !== 'sqlite' ? undefined : masterKeyPath(location.path);
  const database = describeDatabase(location);
  const record = { version, build, url, adminUrl, verifyUrl, publicUrl, database, masterKeyFile: keyPath };
  const firstAdministratorFile = first?.kind === 'code' ? first.path : undefined;
  log.info({ event: 'listening', ...record, firstAdministratorFile });
  if (!process.stderr.isTTY) return;
  // The log goes to the same terminal, and is written later.
  await standardOutput.settled();
  const lines = [
    `Keyreeve ${versionAndBuild} listens on ${url} (metrics and health on ${adminUrl}).`,
    ...(verifyUrl === undefined ? [] : [`Processes that only verify listen on ${verifyUrl}.`]),
    `Database: ${database}${keyPath ? `. Master key: ${keyPath}. Back up both, in different places` : '. Back it up'}.`,
    `${config.hasDocs ? `Documentation: ${url}/docs. ` : ''}Press Ctrl-C to stop.`,
    ...nextLines(config, url, config.consoleUrl ?? publicUrl, first),
  ];
  process.stderr.write(`${lines.join('\n')}\n`);
}

/**
 * The log goes to standard output. The code is printed only if input and both outputs are the terminal, so that no file gets it:
 * `docker run -t` without `-i` has a terminal without input, and keeps its output.
 * @param site without a path of the console
 */
function nextLines(config: Config, url: string, site: string, first: FirstStart | undefined): readonly string[] {
  const { database, hasConsole } = config;
  if (!hasConsole)
    return [
      'Next, in another terminal:',
      '  npx --no-install keyreeve account create you@example.com',
      `  curl -X POST -u you@example.com ${url}/auth/token`,
    ];
  if (!first) return [`Console: ${site}/console`];
  if (first.kind === 'bootstrap')
    return [
      `Console: ${site}/console. To create the first administrator there, get a code in another terminal:`,
      `  npx --no-install keyreeve admin bootstrap${database.kind === 'sqlite' ? '' : ' --output first-administrator'}`,
    ];
  const until = toInstant(first.expiresAt);
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    return [
      `Open ${site}/console and create the first administrator with the code in the file ${first.path}.`,
      `It works once, until ${until}. After that, a start creates another one.`,
    ];
  // Browsers do not send the fragment, and keep it when `/` leads to the console. With localhost, the line has 77 characters.
  return [`Create the first administrator with this link until ${until}:`, '', `${site}/#${first.code.reveal()}`];
}
