/** The plan of a statement, as the database explains it. */
import type { Db, Reader } from '../src/foundation/database/db.ts';
import type { ManyStatement, SqlValue, Statement } from '../src/foundation/database/sql.ts';

type Find = (reader: Reader & Pick<Db, 'getMany' | 'dialect'>) => Promise<unknown>;

/** The plan of the statement that a function executes: one line for each step. */
export async function planOf(db: Db, find: Find): Promise<string> {
  let seen: { readonly statement: Statement<unknown>; readonly values: readonly SqlValue[] } | undefined;
  const note = (statement: Statement<unknown>, values: readonly SqlValue[] = []): void => {
    seen = { statement, values };
  };
  await find({
    dialect: db.dialect,
    all: async (...read: Parameters<typeof note>) => {
      note(...read);
      return [];
    },
    get: async (...read: Parameters<typeof note>) => note(...read),
    getMany: async (statement: ManyStatement<unknown>, [values = []]: readonly (readonly SqlValue[])[]) => {
      // PostgreSQL reads arrays, which have one element here.
      const arrays = values.map((value) => [value]) as unknown as readonly SqlValue[];
      note(statement, db.dialect === 'sqlite' ? values : arrays);
      return [undefined];
    },
  } as unknown as Parameters<Find>[0]);
  const { statement, values } = seen!;
  const requested = `values (1, ${values.map((_, index) => `?${index + 1}`).join(', ')})`;
  const text = {
    sqlite: `explain query plan ${statement.text.sqlite.replace('$requested', requested)}`,
    postgres: `explain ${statement.text.postgres}`,
  };
  const rows = await db.all(
    { ...statement, name: 'test_explain', preparedName: `explain_${statement.preparedName}`, text } as Statement<
      Record<string, unknown>
    >,
    values,
  );
  return rows.map((row) => String(row['detail'] ?? row['QUERY PLAN'])).join('\n');
}
