/** `keyreeve master-key …`: rotates the master key while instances run. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { processEnvironment, readConfig, type Config } from '../app/configuration/config.ts';
import { fileBeside, generateMasterKey, readMasterKey } from '../app/key-files/master-key-file.ts';
import { MasterKeyFiles } from '../app/key-files/master-key-rotation-files.ts';
import { systemClock } from '../foundation/clock.ts';
import { FileExistsError } from '../foundation/complete-file.ts';
import {
  cancelRotation,
  finishRotation,
  RotationError,
  startRotation,
  withMasterKeys,
  type BeforeRemoval,
  type Ended,
} from '../modules/master-key/rotation.ts';
import { CliCommand } from './command.ts';
import { UsageError } from './failure.ts';
import { collect, print, type OutputOptions } from './output.ts';
import { operator, withInstallation } from './session.ts';

interface RotateOptions extends OutputOptions {
  readonly newFile?: string;
  readonly generate?: boolean;
  readonly finish?: boolean;
  readonly cancel?: boolean;
  readonly endedInstance?: readonly string[];
}

export function masterKeyCommand(): Command {
  const masterKey = new CliCommand('master-key')
    .group('operate')
    .description('Rotate the master key.')
    .references('docs/master-key.md', 'database', 'masterKey');
  masterKey
    .command('rotate')
    .description(
      'Add a master key, so that both open the installation while instances restart; then remove the previous one.',
    )
    .option('--new-file <file>', 'file with the new master key: 32 bytes in base64url')
    .option('--generate', 'create the file with a random master key')
    .option('--finish', 'remove the previous master key, which no running instance may use')
    .option('--cancel', 'remove the new master key, which no running instance may use')
    .option('--ended-instance <id>', 'instance that has ended, with a last time in the future (repeatable)', collect)
    .json()
    .examples(
      'keyreeve master-key rotate --new-file /etc/keyreeve/master-key-2 --generate',
      'KEYREEVE_MASTER_KEY_FILE=/etc/keyreeve/master-key-2 keyreeve master-key rotate --finish',
    )
    .action(rotate);
  return masterKey;
}

async function rotate(options: RotateOptions): Promise<void> {
  const { newFile, generate = false, finish: isFinish = false, cancel: isCancel = false } = options;
  if ([isFinish, isCancel, newFile !== undefined || generate].filter(Boolean).length > 1)
    throw new UsageError('--finish, --cancel and --new-file are separate steps; give one of them');
  if (options.endedInstance && !isFinish && !isCancel)
    throw new UsageError('--ended-instance needs --finish or --cancel');
  const config = readConfig(processEnvironment());
  if (isFinish) return finish(options, config);
  return isCancel ? cancel(options, config) : start(options, config);
}

async function start({ newFile, generate = false, ...options }: RotateOptions, config: Config): Promise<void> {
  const files = newFile === undefined ? filesBeside(config) : undefined;
  const result = await withInstallation({}, async ({ installation: { db, rootKeys } }) => {
    const rotation = { db, clock: systemClock, rootKeys };
    const previousMasterKeyId = rootKeys.masterKeyId;
    if (files) {
      const started = await startRotation(operator, rotation, (added) => files.newMasterKey(added));
      // After the commit: both master keys open the installation now.
      await withMasterKeys(db, (keys) => files.putAddedInPlace(started.masterKeyId, keys));
      return { ...started, previousMasterKeyId, file: files.path };
    }
    const file = await newFileOf(newFile, generate);
    const newMasterKey = readMasterKey(file, config);
    const started = await startRotation(operator, rotation, () => newMasterKey).catch(async (error: unknown) => {
      // Nothing uses the generated file.
      if (error instanceof RotationError && generate) await rm(file);
      throw error;
    });
    return { ...started, previousMasterKeyId, file };
  });
  const { isAdded, masterKeyId, previousMasterKeyId: previous, file } = result;
  const text = [
    `${isAdded ? 'Added' : 'An earlier call has added'} the master key ${masterKeyId}, which is in ${file}. The previous one is ${previous}. Both open the installation.`,
    'Next:',
    files
      ? `  1. Restart the service. The previous master key is in ${files.keptOf(previous)}.`
      : `  1. Restart every instance with the new master key: KEYREEVE_MASTER_KEY_FILE=${file}`,
    `  2. ${files ? 'Run' : 'With the new master key, run'} \`keyreeve master-key rotate --finish\`.`,
  ];
  print(options, result, text.join('\n'));
}

function filesBeside(config: Config): MasterKeyFiles | undefined {
  const path = fileBeside(config);
  return path === undefined ? undefined : new MasterKeyFiles(path, config);
}

/** @returns the file with the new master key */
async function newFileOf(given: string | undefined, generate: boolean): Promise<string> {
  if (given === undefined) throw new UsageError('--new-file is missing: the file with the new master key');
  const file = resolve(given);
  if (!generate) return file;
  try {
    await generateMasterKey(file);
    return file;
  } catch (error) {
    if (!(error instanceof FileExistsError)) throw error;
    throw new UsageError(`${file} already exists; name another file, or leave out --generate to use its master key`);
  }
}

async function finish(options: RotateOptions, config: Config): Promise<void> {
  const files = filesBeside(config);
  const ended = await end(options, config, finishRotation, (kept) => {
    files?.putInPlace(kept.id);
    files?.removeNext();
  });
  const { removedId } = ended;
  const kept = removedId === undefined ? undefined : files?.keptOf(removedId);
  const previousFile = kept !== undefined && existsSync(kept) ? kept : null;
  const text =
    removedId === undefined
      ? nothingUnfinished(ended)
      : `Removed the master key ${removedId}. It opens only copies of the database and backups from before now. ${previousFile === null ? 'Keep it in another place as long as you keep such backups; then delete it.' : `It is in ${previousFile}. If you keep such backups, copy this file to another place. Then delete it here.`}`;
  print(options, { removedMasterKeyId: removedId ?? null, previousFile, isErased: ended.isErased }, text);
  assertErased(ended, config);
}

async function cancel(options: RotateOptions, config: Config): Promise<void> {
  const files = filesBeside(config);
  if (files) await putBack(files);
  const ended = await end(options, config, cancelRotation, (kept, removed) => {
    // Again: another command may have put the new file in place meanwhile.
    files?.putInPlace(kept.id);
    files?.removeNext();
    files?.removeCancelled(removed.id);
  });
  const text =
    ended.removedId === undefined
      ? nothingUnfinished(ended)
      : `Removed the new master key ${ended.removedId}. The previous one stays in use.`;
  print(options, { removedMasterKeyId: ended.removedId ?? null, isErased: ended.isErased }, text);
  assertErased(ended, config);
}

const nothingUnfinished = ({ isErased }: Ended): string =>
  `No rotation is unfinished.${isErased ? ' The tables of the database contain no removed wrapping.' : ''}`;

const end = (
  { endedInstance: endedInstances = [] }: RotateOptions,
  config: Config,
  step: typeof finishRotation,
  beforeRemoval: BeforeRemoval,
): Promise<Ended> =>
  withInstallation({}, ({ installation: { db, rootKeys } }) =>
    step(operator, { db, clock: systemClock, rootKeys, endedInstances }, beforeRemoval),
  );

/** Call it after the result is printed, because the removal is committed. @throws RotationError if the wrapping remains */
function assertErased({ isErased }: Ended, config: Config): void {
  if (isErased) return;
  throw new RotationError(
    config.database.kind === 'sqlite'
      ? 'the wrapping of the removed master key is still in the write-ahead log of the database, because another process reads an earlier state; repeat the command when no backup runs'
      : 'the wrapping of the removed master key is still in the files of the table root_keys; repeat the command as the owner of the table, when no backup or other long transaction is open',
  );
}

/** Puts the previous file beside the database back: the command must open the installation with it. */
const putBack = (files: MasterKeyFiles): Promise<void> =>
  withInstallation({}, ({ installation: { db } }) =>
    withMasterKeys(db, ([previous, next]) => {
      if (previous && next) files.putInPlace(previous.id);
    }),
  );
