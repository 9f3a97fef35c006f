/** `keyreeve admin …`: how an installation comes to its first administrator without a password on the command line. */
import { rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { createFirstAdministrator } from '@keyreeve/contract';
import { toInstant } from '../foundation/clock.ts';
import type { Config } from '../app/config.ts';
import type { Secret } from '../foundation/crypto/secret.ts';
import { UsageError } from './failure.ts';
import { jsonHelp, print, type OutputOptions } from './output.ts';
import { withInstallation } from './session.ts';

interface BootstrapOptions extends OutputOptions {
  readonly output?: string;
}

export function adminCommand(): Command {
  const admin = new Command('admin').description('The first administrator.');
  admin
    .command('bootstrap')
    .description('Write a one-time code for making the first administrator over HTTP into a file.')
    .option('--output <file>', 'a new file, instead of one beside the embedded database')
    .option('--json', jsonHelp)
    .action(bootstrap);
  return admin;
}

async function bootstrap(options: BootstrapOptions): Promise<void> {
  const { path, expiresAt } = await withInstallation({}, async ({ config, firstAdministrator }) => {
    const file = resolve(options.output ?? besideDatabase(config));
    let isWritten = false;
    const keep = (code: Secret): void => {
      writeNew(file, code);
      isWritten = true;
    };
    try {
      return { path: file, ...(await firstAdministrator.makeCode(keep)) };
    } catch (error) {
      // The code in it is none.
      if (isWritten) rmSync(file, { force: true });
      throw error;
    }
  });
  const until = toInstant(expiresAt);
  const lines = [
    `Wrote a code for the first administrator to ${path}.`,
    `It is good once, until ${until}: send it with ${createFirstAdministrator.method} ${createFirstAdministrator.path}, then delete the file.`,
  ];
  print(options, { path, expiresAt: until }, lines.join('\n'));
}

function besideDatabase({ database }: Config): string {
  if (database.kind === 'sqlite') return `${database.path}.first-administrator`;
  throw new UsageError('name a new file for the code by --output');
}

function writeNew(path: string, code: Secret): void {
  try {
    writeFileSync(path, `${code.reveal()}\n`, { flag: 'wx', mode: 0o600, flush: true });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    throw new UsageError(`${path} exists; delete it, or name another file by --output`);
  }
}
