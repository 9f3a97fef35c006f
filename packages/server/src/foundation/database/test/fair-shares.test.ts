/** Shares of the writer: the changes of one account or class do not delay those of another. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import type { Db } from '../db.ts';
import { accountShare, drawShare, runInShare, type WorkClass } from '../share.ts';
import { sql } from '../sql.ts';
import { onEachDatabase, outcomes } from '../../../../test-kit/store-on-each-database.ts';

const createTable = sql('test_create', 'create table things (id integer primary key, n integer not null)');
const insert = sql('test_insert', 'insert into things (id, n) values ($1, 0)');
const add = sql('test_add', 'update things set n = n + 1 where id = $1');

const flood = 200;

/** One row for each account. Records the order in which changes are acknowledged. */
class Accounts {
  readonly order: string[] = [];
  readonly #db: Db;
  readonly #rows = new Map<string, number>();

  constructor(db: Db) {
    this.#db = db;
  }

  async open(...accounts: readonly string[]): Promise<void> {
    await this.#db.transaction(async (tx) => {
      await tx.run(createTable);
      for (const [index, account] of accounts.entries()) {
        this.#rows.set(account, index + 1);
        await tx.run(insert, [index + 1]);
      }
    });
  }

  /** Opens the connections to the database, because opening one can take as long as a hundred changes. */
  async warmUp(classes: readonly WorkClass[]): Promise<void> {
    const accounts = [...this.#rows.keys()];
    const each = accounts.flatMap((account) => classes.map((workClass) => [account, workClass] as const));
    const changes = Array.from({ length: limits.postgresWritersMax }, () => each).flat();
    await Promise.all(changes.map((change) => this.change(...change)));
    this.order.length = 0;
  }

  async change(account: string, workClass: WorkClass): Promise<void> {
    const row = this.#rows.get(account) ?? 0;
    await runInShare(accountShare(account, workClass), () => this.#db.transaction((tx) => tx.run(add, [row])));
    this.order.push(`${account} ${workClass}`);
  }
}

for (const [floodClass, otherClass] of [
  ['ordinary', 'ordinary'],
  ['ordinary', 'narrowing'],
  ['narrowing', 'ordinary'],
  ['narrowing', 'narrowing'],
] as const) {
  onEachDatabase(
    `an account with ${flood} waiting ${floodClass} changes does not delay the ${otherClass} change of another`,
    async ({ db }) => {
      const accounts = new Accounts(db);
      await accounts.open('attacker', 'other');
      await accounts.warmUp([floodClass, otherClass]);
      const attacking = Array.from({ length: flood }, () => accounts.change('attacker', floodClass));
      await accounts.change('other', otherClass);
      const before = accounts.order.indexOf(`other ${otherClass}`);
      // Changes that share a commit are acknowledged together.
      assert.ok(before < flood / 2, `${before} changes came first`);
      await Promise.allSettled(attacking);
    },
  );
}

onEachDatabase(
  'the waiting changes of an account are bounded, and another account’s changes continue',
  async ({ db }) => {
    const accounts = new Accounts(db);
    await accounts.open('attacker', 'other');
    const beyond = 50;
    const attacking = Promise.allSettled(
      Array.from({ length: limits.writesWaitingPerOwnerMax + beyond }, () => accounts.change('attacker', 'ordinary')),
    );
    await accounts.change('other', 'ordinary');
    const { too_many_in_progress: rejected = 0 } = outcomes(await attacking);
    // The first may have begun.
    assert.ok(rejected === beyond || rejected === beyond - 1, `${rejected} rejected`);
  },
);

onEachDatabase('changes in progress of one account leave a connection for other accounts', async ({ db }) => {
  if (db.dialect === 'sqlite') return;
  const accounts = new Accounts(db);
  await accounts.open('attacker', 'other');
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const held = Array.from({ length: limits.postgresWritersMax }, () =>
    runInShare(accountShare('attacker', 'ordinary'), () => db.transaction(() => released)),
  );
  await accounts.change('other', 'ordinary');
  release();
  await Promise.all(held);
});

for (const [heldClass, otherClass] of [
  ['ordinary', 'narrowing'],
  ['narrowing', 'ordinary'],
] as const) {
  onEachDatabase(`${heldClass} changes of many accounts leave a connection for ${otherClass} ones`, async ({ db }) => {
    if (db.dialect === 'sqlite') return;
    const accounts = new Accounts(db);
    await accounts.open('other');
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const held = Array.from({ length: limits.postgresWritersMax }, (_, account) =>
      runInShare(accountShare(`a${account}`, heldClass), () => db.transaction(() => released)),
    );
    await accounts.change('other', otherClass);
    release();
    await Promise.all(held);
  });
}

onEachDatabase(
  'changes of all classes leave a connection for draws, and draws leave theirs for changes',
  async ({ db }) => {
    if (db.dialect === 'sqlite') return;
    const accounts = new Accounts(db);
    await accounts.open('other');
    const released = Promise.withResolvers<void>();
    const hold = (workClass: WorkClass, account: number) =>
      runInShare(accountShare(`a${account}`, workClass), () => db.transaction(() => released.promise));
    const draw = () => runInShare(drawShare, () => db.transaction(async () => undefined));
    const writers = Array.from({ length: limits.postgresWritersMax }, (_, account) => account);
    const held = writers.flatMap((account) => [hold('narrowing', account), hold('ordinary', account)]);
    await draw();
    released.resolve();
    await Promise.all(held);

    const drawn = Promise.withResolvers<void>();
    const draws = Array.from({ length: limits.drawsInProgressMax + 1 }, () =>
      runInShare(drawShare, () => db.transaction(() => drawn.promise)),
    );
    await accounts.change('other', 'narrowing');
    await accounts.change('other', 'ordinary');
    drawn.resolve();
    await Promise.all(draws);
  },
);
