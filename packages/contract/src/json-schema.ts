/**
 * Converts the contract's schemas for the OpenAPI document: named schemas become references, enumerations get a type, and
 * responses lose `additionalProperties: false`. The server validates with the contract's own schemas.
 */
import type { TSchema } from 'typebox';
import { exampleOf } from './examples.ts';
import { documentedAs } from './schemas.ts';

export type Json = Record<string, unknown>;
type Side = 'request' | 'response';

/** A schema with `$id`, which is its name in the document and of the type in generated clients. */
interface Component {
  readonly schema: Json;
  /** `request` if any request contains it: it then says whether the server accepts unknown members. */
  readonly side: Side;
  definition: Json;
}
const components = new Map<string, Component>();
/** By name. */
export const namedSchemas: ReadonlyMap<string, Component> = components;

/** `components.schemas`: the named schemas that {@link schemaOf} has met. */
export const componentSchemas = (): Json =>
  Object.fromEntries(
    [...components]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, { schema, definition: shown }]) => [
        name,
        isComposed(schema) ? shown : { ...shown, examples: [exampleOf(schema)] },
      ]),
  );

/** Whether the example of the schema would repeat those of the named schemas that it contains. */
function isComposed({ examples, properties = {} }: Json): boolean {
  const members = Object.values(properties as Record<string, Json & { readonly items?: Json }>);
  return !examples && members.some(({ $id, items }) => $id !== undefined || items?.['$id'] !== undefined);
}

/** The schema of a body or a parameter. */
export function schemaOf(schema: TSchema, side: Side): Json {
  const text = plain(schema);
  const used = use(text, side);
  return '$ref' in used || !text['examples'] ? used : { ...used, examples: text['examples'] };
}

function use(schema: Json, side: Side): Json {
  const { $id: name, ...rest } = schema;
  if (typeof name === 'string') return reference(name, rest, side);
  if (schema['properties'] && Object.keys(schema['properties']).length > 0)
    throw new Error(`Give this schema a name ($id): ${JSON.stringify(schema)}`);
  return definition(schema, side);
}

/** @throws Error if another schema has the name */
function reference(name: string, schema: Json, side: Side): Json {
  const known = components.get(name);
  if (known && JSON.stringify(known.schema) !== JSON.stringify(schema))
    throw new Error(`Two schemas are named ${name}: ${JSON.stringify(known.schema)} and ${JSON.stringify(schema)}`);
  if (!known || (known.side === 'response' && side === 'request')) {
    const component: Component = { schema, side, definition: {} };
    components.set(name, component);
    component.definition = definition(schema, side);
  }
  return { $ref: `#/components/schemas/${name}` };
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

/** TypeBox schemas are JSON Schema 2020-12, as OpenAPI 3.1 requires. Properties that JSON cannot represent are dropped. */
const plain = (schema: TSchema): Json => JSON.parse(JSON.stringify(schema)) as Json;
