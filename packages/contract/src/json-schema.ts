/**
 * The contract's schemas as the OpenAPI document shows them: named ones as references, enumerations with their type, and
 * responses without `additionalProperties: false`. The server itself checks against the schemas of the contract.
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
  // The example of a named schema is a whole one.
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
    // RFC 9110 section 15 and every sensible client: an unknown member of a response is ignored.
    ...(additionalProperties !== undefined && side === 'request' ? { additionalProperties } : {}),
  };
}

function documented({ [documentedAs]: other, ...schema }: Json): Json {
  return other === undefined ? schema : { description: schema['description'], ...(other as Json) };
}

/** `string | null` is one schema with two types; a named schema or a union stays `anyOf`. */
function union(anyOf: readonly Json[], rest: Json, side: Side): Json {
  const [first, second] = anyOf.map((schema) => use(schema, side));
  if (anyOf.length === 2 && first && second?.['type'] === 'null' && typeof first['type'] === 'string' && !first['enum'])
    return { ...first, ...rest, type: [first['type'], 'null'] };
  return { ...rest, anyOf: anyOf.map((schema) => use(schema, side)) };
}

/** Generators read enumerations that name their type; not all of them read `const`. */
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

/** TypeBox schemas are JSON Schema 2020-12, as OpenAPI 3.1 requires; what JSON cannot hold is dropped. */
const plain = (schema: TSchema): Json => JSON.parse(JSON.stringify(schema)) as Json;
