/** An installation whose root key is rotated between two runs of its service. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readConfig, type Config } from '../../../app/configuration/config.ts';
import { openInstallation, type OpenedInstallation } from '../../../app/installation/installation.ts';
import {
  rotateInstallation,
  type RotateOptions,
  type RotationResult,
} from '../../../app/key-files/root-key-rotation.ts';
import type { RootKeys } from '../../../foundation/crypto/root-key.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { finishRotation, startRotation } from '../../master-key/rotation.ts';
import { operator, newApp, type TestApp } from '../../../../test-kit/new-app.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { newPlace, type DatabasePlace } from '../../../../test-kit/new-db.ts';
import { freePort } from '../../../../test-kit/free-port.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';

export class Rotatable implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly place: DatabasePlace;
  readonly folder: ReturnType<typeof newTempFolder>;

  readonly port: number;
  #masterKey = randomBytes(32);

  constructor(place: DatabasePlace, folder: ReturnType<typeof newTempFolder>, port: number) {
    this.port = port;
    this.place = place;
    this.folder = folder;
  }

  get environment(): Record<string, string> {
    return {
      ...this.place.environment,
      KEYREEVE_MASTER_KEY: this.#masterKey.toString('base64url'),
      KEYREEVE_DELETION_JOURNAL: this.folder.path,
    };
  }

  get config(): Config {
    return readConfig(this.environment);
  }

  /** @param port of the issuer of access tokens and of the origin of passkeys */
  start(port = this.port): Promise<TestApp> {
    const { clock, place } = this;
    const environment = { ...this.environment, KEYREEVE_PORT: String(port) };
    return newApp({ clock, place, areRequestsLimited: false, environment });
  }

  /** Runs the service until `use` has returned. */
  async run<T>(use: (app: TestApp) => Promise<T>): Promise<T> {
    await using app = await this.start();
    return await use(app);
  }

  rotate(options: Partial<RotateOptions> = {}): Promise<RotationResult> {
    const defaults = { clock: this.clock, journalFolders: [], endedInstances: [], isDryRun: false };
    return rotateInstallation(operator, this.config, { ...defaults, ...options });
  }

  /** The configuration has the new master key then. */
  async rotateMasterKey(): Promise<void> {
    const { clock } = this;
    const next = randomBytes(32);
    await this.#withRootKeys((db, rootKeys) => startRotation(operator, { db, clock, rootKeys }, () => next));
    this.#masterKey = next;
    await this.#withRootKeys((db, rootKeys) => finishRotation(operator, { db, clock, rootKeys }));
  }

  /** As a command does. */
  async open(): Promise<OpenedInstallation & AsyncDisposable> {
    const options = { clock: this.clock, mayCreate: false };
    const opened = await openInstallation(this.config, options);
    return { ...opened, [Symbol.asyncDispose]: () => opened.db.close() };
  }

  async #withRootKeys(use: (db: Db, rootKeys: RootKeys) => Promise<unknown>): Promise<void> {
    await using opened = await this.open();
    await use(opened.db, opened.rootKeys);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.place[Symbol.asyncDispose]();
    this.folder[Symbol.dispose]();
  }
}

export const newRotatable = async (): Promise<Rotatable> =>
  new Rotatable(await newPlace(undefined, { isMigrated: true }), newTempFolder(), await freePort());

export async function isKeyAccepted(app: TestApp, key: string): Promise<boolean> {
  const { status } = await app.call('GET', '/auth/forward', { headers: { authorization: `Bearer ${key}` } });
  assert.ok(status === 200 || status === 401, String(status));
  return status === 200;
}
