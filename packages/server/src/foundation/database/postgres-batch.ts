/**
 * Statements that are sent to PostgreSQL in one write and end with one Sync: PostgreSQL runs them in order, and after one
 * fails it skips the others (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING).
 */
import type { ClientBase, Connection, Submittable } from 'pg';
import { parserOf } from './postgres-connection.ts';
import { toParameter, type Parameter, type ParameterValue } from './postgres-parameters.ts';
import type { Statement } from './sql.ts';

interface Columns {
  readonly names: readonly string[];
  /** Undefined for texts. */
  readonly parsers: readonly (((text: string) => unknown) | undefined)[];
  /** A row of nulls. A copy of it takes half the time of a new object. */
  readonly empty: Readonly<Record<string, unknown>>;
}

/** A statement with its values and, after it has completed, its results. */
export class BatchItem {
  readonly statement: Statement<unknown>;
  readonly values: readonly Parameter[];
  /** Undefined if the caller needs only the number of rows. */
  readonly rows: unknown[] | undefined;
  rowCount = 0;
  /** The command tag without its numbers, such as `COMMIT`. */
  command = '';

  constructor(statement: Statement<unknown>, values: readonly ParameterValue[], hasRows: boolean) {
    this.statement = statement;
    this.values = values.map(toParameter);
    this.rows = hasRows ? [] : undefined;
  }
}

/** The part of pg's connection that a batch uses. Its declared types are those of an earlier version. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  /** The texts of the statements that the server has prepared, by name. */
  readonly parsedStatements: Readonly<Record<string, string | undefined>>;
  parse(message: { readonly name: string; readonly text: string }): void;
  bind(message: { readonly statement: string; readonly values: readonly Parameter[] }): void;
  describe(message: { readonly type: 'P' }): void;
  execute(): void;
  sync(): void;
}

/**
 * Columns of prepared statements. They cannot change: PostgreSQL rejects a prepared statement whose result type has
 * changed. So the server describes them once for each connection.
 */
const columnsOf = new WeakMap<Wire, Map<string, Columns>>();

/** A query object of pg: the client calls `submit` and the methods that begin with `handle`. */
export class Batch implements Submittable {
  /** Milliseconds. Then the client fails the batch, and the connection cannot be used again. */
  readonly query_timeout: number;
  /** The number of statements that have completed. */
  completed = 0;
  /** Whether PostgreSQL may have received the batch. */
  isSent = false;
  callback: ((error: Error | null) => void) | undefined;
  readonly #items: readonly BatchItem[];
  #known: Map<string, Columns> = new Map();
  #columns: Columns | undefined;
  #parseError: Error | undefined;

  constructor(items: readonly BatchItem[], msMax: number) {
    this.#items = items;
    this.query_timeout = msMax;
  }

  /** @throws the server's error, which is that of the first statement that failed; another Error if the connection failed */
  run(client: ClientBase): Promise<void> {
    return new Promise((resolve, reject) => {
      this.callback = (error) => (error ? reject(error) : resolve());
      client.query(this);
    });
  }

  /** The statement in progress, or the one that failed. */
  get next(): BatchItem | undefined {
    return this.#items[this.completed];
  }

  /** With `name` and `text`, the client records that the server has prepared the statement in progress. */
  get name(): string | undefined {
    return this.next?.statement.preparedName;
  }

  get text(): string | undefined {
    return this.next?.statement.text.postgres;
  }

  submit(connection: Connection): void {
    const wire = connection as unknown as Wire;
    this.#known = columnsOf.get(wire) ?? new Map();
    columnsOf.set(wire, this.#known);
    this.isSent = true;
    const parsed = new Set<string>();
    wire.stream.cork();
    for (const { statement, values, rows } of this.#items) {
      const { preparedName: name, text } = statement;
      if (wire.parsedStatements[name] === undefined && !parsed.has(name)) {
        wire.parse({ name, text: text.postgres });
        parsed.add(name);
      }
      wire.bind({ statement: name, values });
      if (rows && !this.#known.has(name)) wire.describe({ type: 'P' });
      wire.execute();
    }
    wire.sync();
    wire.stream.uncork();
  }

  handleRowDescription({ fields }: { readonly fields: readonly { name: string; dataTypeID: number }[] }): void {
    const names = fields.map(({ name }) => name);
    const empty = Object.fromEntries(names.map((name) => [name, null]));
    this.#columns = { names, parsers: fields.map(({ dataTypeID }) => parserOf(dataTypeID)), empty };
    if (this.name !== undefined) this.#known.set(this.name, this.#columns);
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const item = this.next;
    if (!item?.rows) return;
    this.#columns ??= this.#known.get(item.statement.preparedName);
    try {
      item.rows.push(rowOf(this.#columns, fields));
    } catch (error) {
      this.#parseError ??= error as Error;
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const item = this.next;
    if (item) {
      item.command = text.split(' ', 1)[0] ?? '';
      item.rowCount = Number(text.slice(text.lastIndexOf(' ') + 1)) || 0;
    }
    this.completed++;
    this.#columns = undefined;
  }

  handleError(error: Error): void {
    this.callback?.(error);
  }

  handleReadyForQuery(): void {
    const isComplete = this.completed === this.#items.length;
    this.callback?.(this.#parseError ?? (isComplete ? null : new Error('PostgreSQL did not run all statements')));
  }

  /** The client requires these handlers. No statement in a batch causes their messages. */
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}
}

function rowOf(columns: Columns | undefined, fields: readonly (string | null)[]): Record<string, unknown> {
  if (!columns) throw new Error('PostgreSQL sent a row without its columns');
  const { names, parsers, empty } = columns;
  const row = { ...empty };
  for (let index = 0; index < names.length; index++) {
    const field = fields[index] ?? null;
    if (field !== null) row[names[index] as string] = valueOf(field, parsers[index]);
  }
  return row;
}

const valueOf = (field: string, parse: Columns['parsers'][number]): unknown => (parse ? parse(field) : field);
