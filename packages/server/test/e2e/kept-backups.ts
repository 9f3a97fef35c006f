/** An installation, and a folder with its backups. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { runProcess, runProgram, type Environment, type Exit } from './program.ts';

export interface Result {
  readonly path: string;
  readonly rows: Readonly<Record<string, number>>;
  readonly kept: number;
  readonly deleted: readonly string[];
}

export const resultOf = ({ status, stdout, stderr }: Exit): Result => {
  assert.deepEqual([status, stderr], [0, '']);
  return JSON.parse(stdout) as Result;
};

/** An installation with an account, and a folder for backups. */
export class Installation implements Disposable {
  readonly #folder = newTempFolder();
  readonly backups = join(this.#folder.path, 'backups');

  static async create(): Promise<Installation> {
    const created = new Installation();
    mkdirSync(created.backups);
    const account = await created.run('account create you@example.com --generate');
    assert.equal(account.status, 0, account.stderr);
    return created;
  }

  run(line: string, environment: Environment = {}): Promise<Exit> {
    return runProgram(line.split(' '), { folder: this.#folder.path, environment });
  }

  /** Beside other commands. */
  runProcess(line: string): Promise<Exit> {
    return runProcess(line.split(' '), { folder: this.#folder.path });
  }

  get files(): string[] {
    return readdirSync(this.backups).toSorted();
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}
