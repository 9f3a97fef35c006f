/** Example values from the schemas, for the OpenAPI document and the reference page. */
import type { TSchema } from 'typebox';

interface Schema {
  readonly examples?: readonly unknown[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly minimum?: number;
}

/** @throws Error for a string without an example */
export const exampleOf = (schema: TSchema): unknown => example(schema, 'the schema');

function example(schema: Schema, name: string): unknown {
  if (schema.examples && schema.examples.length > 0) return schema.examples[0];
  if ('const' in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf?.[0]) return example(schema.anyOf[0], name);
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([member, value]) => [member, example(value, member)]),
      );
    case 'array':
      return schema.items ? [example(schema.items, name)] : [];
    case 'integer':
      return schema.minimum ?? 1;
    case 'null':
      return null;
    case 'boolean':
      return true;
    default:
      throw new Error(`Give ${name} an example: ${JSON.stringify(schema)}`);
  }
}
