/**
 * Random sequences of files, deletions by hand, starts, backups and restores, against a model of what exists. The same seed gives
 * the same sequence.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestDb } from '../../../../test-kit/new-db.ts';
import { keys as installationKeys, now, operator } from '../../../../test-kit/rows.ts';
import { claimInstallation } from '../../../../test-kit/installation.ts';
import { randomFrom } from '../../../../test/revocation-check/random-history.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import type { Dialect } from '../../../foundation/database/sql.ts';
import { backUp, journalIn, newBackupFolder, restore } from '../../backup/test/backup-kit.ts';
import { ApplyError } from '../apply-error.ts';
import type { ApplyMode } from '../apply.ts';
import type { LoadedFile } from '../file.ts';
import { applied, newApplyFolder, openNew, servicesOn, sha256Of, type Content } from './apply-kit.ts';

const lists = ['scopes', 'accounts', 'serviceAccounts', 'issuers', 'keys', 'webhooks'] as const;
type List = (typeof lists)[number];
/** Such as `keys/2`. The key 2 belongs to the service account 0. */
type Name = `${List}/${number}`;
const universe: readonly Name[] = lists.flatMap((list) => [0, 1, 2, 3].map((number): Name => `${list}/${number}`));
const ownerOf = (name: Name): Name | undefined =>
  name.startsWith('keys/') ? `serviceAccounts/${Number(name.slice(-1)) % 2}` : undefined;

interface File {
  readonly loaded: LoadedFile;
  readonly present: ReadonlySet<Name>;
  readonly absent: ReadonlySet<Name>;
}

/** What a backup contains. */
interface State {
  readonly existing: Set<Name>;
  /** Apply has created them. */
  readonly created: Set<Name>;
  /** A file has stated that they are absent, and they have never existed. */
  readonly denied: Set<Name>;
}

/** One sequence. */
export class Sequence {
  readonly #random: () => number;
  readonly #kind: Dialect;
  readonly #backups = newBackupFolder();
  readonly #folder = newApplyFolder();
  /** Everything that was deleted, in whatever way: it never exists again. */
  readonly #deleted = new Set<Name>();
  readonly #files: File[] = [];
  readonly #steps: string[] = [];
  #state: State = { existing: new Set(), created: new Set(), denied: new Set() };
  #backup: { readonly path: string; readonly state: State } | undefined;
  #generation = 0;
  #opened!: TestDb;
  #at = now;

  constructor(seed: number, kind: Dialect) {
    this.#random = randomFrom(seed);
    this.#kind = kind;
  }

  /** @throws AssertionError with the steps */
  async run(stepsCount: number): Promise<void> {
    this.#opened = await openNew(this.#kind);
    try {
      await claimInstallation(this.#opened.db, installationKeys.check, now);
      for (let step = 0; step < stepsCount; step++) {
        this.#at += 10_000;
        await this.#step();
        const expected = [...this.#state.existing].toSorted();
        assert.deepEqual(await this.#found(), expected, this.#steps.join('\n'));
        for (const name of this.#deleted) assert.ok(!this.#state.existing.has(name));
      }
    } finally {
      await this.#opened[Symbol.asyncDispose]();
      this.#backups[Symbol.dispose]();
      this.#folder[Symbol.dispose]();
    }
  }

  async #step(): Promise<void> {
    const part = this.#random();
    if (part < 0.4) return this.#apply(this.#newFile(), { prunes: this.#random() < 0.2 });
    const earlier = this.#files[Math.floor(this.#random() * this.#files.length)];
    if (part < 0.55 && earlier) return this.#apply(earlier, { isStart: true });
    const last = this.#files.at(-1);
    if (part < 0.65 && last) return this.#apply(last, {});
    if (part < 0.85) return this.#deleteByHand();
    if (part < 0.93 || !this.#backup) return this.#backUp();
    return this.#restore();
  }

  get #services(): Services {
    return servicesOn(this.#opened.db, this.#at, this.#backups.folder);
  }

  #newFile(): File {
    const present = new Set(universe.filter(() => this.#random() < 0.5));
    const absent = new Set(universe.filter((name) => !present.has(name) && this.#random() < 0.1));
    // A key needs the service account in the file.
    for (const name of present) {
      const owner = ownerOf(name);
      if (owner && !present.has(owner)) present.delete(name);
    }
    this.#generation++;
    const content = Object.fromEntries(
      lists.map((list) => [
        list,
        [...present, ...absent].filter((name) => name.startsWith(`${list}/`)).map((name) => entryOf(name, absent)),
      ]),
    ) as Content;
    const file = { loaded: this.#folder.load({ generation: this.#generation, ...content }), present, absent };
    this.#files.push(file);
    return file;
  }

  async #apply(file: File, mode: ApplyMode): Promise<void> {
    const { generation } = file.loaded;
    this.#steps.push(`apply ${generation} ${JSON.stringify(mode)}`);
    if (generation < this.#generation) {
      await assert.rejects(applied(this.#services, file.loaded, mode), ApplyError);
      return;
    }
    await applied(this.#services, file.loaded, mode);
    const isRepeated = this.#files.indexOf(file) !== this.#files.length - 1 || mode.isStart === true;
    if (!isRepeated) this.#change(file, mode);
    if (!isRepeated) assert.deepEqual(changesIn(await applied(this.#services, file.loaded)), [], 'applied twice');
  }

  #change({ present, absent }: File, { prunes }: ApplyMode): void {
    const { existing, created, denied } = this.#state;
    for (const name of absent)
      if (existing.has(name)) this.#remove(name);
      else if (!this.#deleted.has(name)) denied.add(name);
    const unnamed = [...existing].filter((name) => created.has(name) && !present.has(name) && !absent.has(name));
    if (prunes === true) for (const name of unnamed) this.#remove(name);
    for (const name of universe) {
      const owner = ownerOf(name);
      if (!present.has(name) || existing.has(name) || denied.has(name) || this.#deleted.has(name)) continue;
      if (owner && !existing.has(owner)) continue;
      existing.add(name);
      created.add(name);
    }
  }

  /** With the keys of a service account. */
  #remove(name: Name): void {
    for (const one of universe)
      if (this.#state.existing.has(one) && (one === name || ownerOf(one) === name)) {
        this.#state.existing.delete(one);
        this.#deleted.add(one);
      }
    this.#deleted.add(name);
  }

  async #deleteByHand(): Promise<void> {
    const names = [...this.#state.existing];
    const name = names[Math.floor(this.#random() * names.length)];
    if (name === undefined) return;
    this.#steps.push(`delete ${name}`);
    const { apiKeys, scopeCatalogue, accounts, serviceAccounts, issuers, webhooks } = this.#services;
    if (name.startsWith('scopes/')) await scopeCatalogue.delete(operator, name);
    else if (name.startsWith('accounts/')) await accounts.delete(operator, (await accounts.find(emailOf(name))).id);
    else if (name.startsWith('keys/')) {
      const id = apiKeys.idOf(sha256Of(name));
      await apiKeys.delete(operator, await apiKeys.ownerOf(id), id);
    } else if (name.startsWith('issuers/')) {
      const issuer = (await issuers.list(operator, null)).find(({ url }) => url === urlOf(name));
      await issuers.remove(operator, { id: issuer?.id ?? 0 });
    } else if (name.startsWith('webhooks/')) {
      const endpoint = (await webhooks.endpoints.list()).find(({ url }) => url === urlOf(name));
      await webhooks.endpoints.delete(operator, endpoint?.id ?? '');
    } else
      for await (const { id, name: of } of accounts.list()) if (of === name) await serviceAccounts.delete(operator, id);
    this.#remove(name);
  }

  async #backUp(): Promise<void> {
    const path = join(this.#backups.path, `backup-${this.#at}`);
    this.#steps.push('back up');
    await backUp(this.#opened.db, path);
    this.#backup = { path, state: structuredClone(this.#state) };
  }

  /** Into an empty database, with the deletion journal. */
  async #restore(): Promise<void> {
    if (!this.#backup) return;
    this.#steps.push('restore');
    await journalIn(this.#opened.db, this.#backups.folder, this.#at).catchUp();
    const target = await openNew(this.#kind);
    await restore(target.db, this.#backup.path, { journal: journalIn(target.db, this.#backups.folder, this.#at) });
    await this.#opened[Symbol.asyncDispose]();
    this.#opened = target;
    this.#state = structuredClone(this.#backup.state);
    for (const name of this.#deleted) this.#state.existing.delete(name);
  }

  async #found(): Promise<Name[]> {
    const { apiKeys, scopeCatalogue, accounts, issuers, webhooks } = this.#services;
    const names: string[] = (await scopeCatalogue.list()).flatMap(({ name, deletedAt }) =>
      deletedAt === null ? name : [],
    );
    for await (const { kind, name, email } of accounts.list())
      names.push(kind === 'service' ? (name ?? '') : email.replace('@example.com', '').replace('.', '/'));
    for (const { url } of [...(await webhooks.endpoints.list()), ...(await issuers.list(operator, null))])
      names.push(url.replace('https://example.com/', ''));
    const ofKeys = universe.filter((name) => name.startsWith('keys/'));
    const { keys: found } = await apiKeys.searchOwned({});
    names.push(...ofKeys.filter((name) => found.some(({ id }) => id === apiKeys.idOf(sha256Of(name)))));
    return names.toSorted() as Name[];
  }
}

const changesIn = (steps: readonly string[]): string[] => steps.filter((step) => !step.startsWith('keep_deleted'));

const emailOf = (name: Name): string => `${name.replace('/', '.')}@example.com`;
const urlOf = (name: Name): string => `https://example.com/${name}`;

function entryOf(name: Name, absent: ReadonlySet<Name>): object {
  const state = absent.has(name) ? { state: 'absent' } : {};
  if (name.startsWith('scopes/') || name.startsWith('serviceAccounts/')) return { name, ...state };
  if (name.startsWith('accounts/')) return { email: emailOf(name), ...state };
  if (name.startsWith('issuers/')) return { url: urlOf(name), ...state };
  if (name.startsWith('keys/'))
    return { sha256: sha256Of(name), serviceAccount: ownerOf(name), nickname: name, ...state };
  return { name, url: urlOf(name), events: ['api_key.deleted'], secretFile: 'webhook.secret', ...state };
}
