/**
 * Converts the contract's schemas for the OpenAPI document: named schemas become references, enumerations get a type, and
 * responses lose `additionalProperties: false`. The server validates with the contract's own schemas.
 */
import type { TSchema } from 'typebox';
import { exampleOf } from './examples.ts';
import { documentedAs } from './schemas.ts';
import { requestSchemas, responseSchemas, valueSchemas } from './named-schemas.ts';

export type Json = Record<string, unknown>;
type Side = 'request' | 'response';

/** JSON text of a schema → its name. */
const names = namesByText({ ...valueSchemas, ...requestSchemas, ...responseSchemas });

/** `components.schemas` */
export function componentSchemas(): Json {
  const rendered = (side: Side) => (schemas: Readonly<Record<string, TSchema>>) =>
    Object.entries(schemas).map(
      ([name, schema]) => [name, { ...definition(plain(schema), side), examples: [exampleOf(schema)] }] as const,
    );
  const all = [
    ...rendered('response')(valueSchemas),
    ...rendered('request')(requestSchemas),
    ...rendered('response')(responseSchemas),
  ];
  return Object.fromEntries(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The schema of a body or a parameter. */
export function schemaOf(schema: TSchema, side: Side): Json {
  const text = plain(schema);
  const used = use(text, side);
  return '$ref' in used || !text['examples'] ? used : { ...used, examples: text['examples'] };
}

function use(schema: Json, side: Side): Json {
  const name = names.get(JSON.stringify(schema));
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
  if (schema['properties'] && Object.keys(schema['properties']).length > 0)
    throw new Error(`Give this schema a name in named-schemas.ts: ${JSON.stringify(schema)}`);
  return definition(schema, side);
}

function definition(schema: Json, side: Side): Json {
  // The examples of components are computed in `componentSchemas`.
  const {
    properties,
    items,
    anyOf,
    additionalProperties,
    examples: _,
    ...rest
  } = documented(schema) as Json & {
    properties?: Record<string, Json>;
    items?: Json;
    anyOf?: readonly Json[];
  };
  if (anyOf) return union(anyOf, rest, side);
  return {
    ...typed(rest),
    ...(properties
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, use(value, side)])) }
      : {}),
    ...(items ? { items: use(items, side) } : {}),
    // Clients ignore unknown members of a response, so a later version can add members.
    ...(additionalProperties !== undefined && side === 'request' ? { additionalProperties } : {}),
  };
}

function documented({ [documentedAs]: other, ...schema }: Json): Json {
  return other === undefined ? schema : { description: schema['description'], ...(other as Json) };
}

/** `string | null` becomes one schema with two types. A named schema or a union stays `anyOf`. */
function union(anyOf: readonly Json[], rest: Json, side: Side): Json {
  const [first, second] = anyOf.map((schema) => use(schema, side));
  if (anyOf.length === 2 && first && second?.['type'] === 'null' && typeof first['type'] === 'string' && !first['enum'])
    return { ...first, ...rest, type: [first['type'], 'null'] };
  return { ...rest, anyOf: anyOf.map((schema) => use(schema, side)) };
}

/** Generators support enumerations with a type; not all of them support `const`. */
function typed({ const: constant, ...rest }: Json): Json {
  const { enum: values = constant === undefined ? [] : [constant] } = rest as { enum?: readonly unknown[] };
  return values.length === 0 ? rest : { type: typeof values[0], ...rest, enum: values };
}

function namesByText(schemas: Readonly<Record<string, TSchema>>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, schema] of Object.entries(schemas)) {
    const text = JSON.stringify(schema);
    const other = found.get(text);
    if (other !== undefined) throw new Error(`${name} and ${other} are the same schema`);
    found.set(text, name);
  }
  return found;
}

/** TypeBox schemas are JSON Schema 2020-12, as OpenAPI 3.1 requires. Properties that JSON cannot represent are dropped. */
const plain = (schema: TSchema): Json => JSON.parse(JSON.stringify(schema)) as Json;
