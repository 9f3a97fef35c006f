/** The members of a schema as the rows of a table. Nested members have a path; alternatives are merged. */
import type { TSchema } from 'typebox';
import { documentedAs } from '@keyreeve/contract';
import { inlineCode, type Html } from '../../server/src/http/html.ts';
import { parts } from './reference-parts.ts';

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly format?: string;
  readonly description?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly [documentedAs]?: Schema;
}

interface Row {
  readonly name: string;
  readonly types: readonly string[];
  readonly isRequired: boolean;
  readonly description: string;
}

/** @returns no table for a schema without members */
export function tableOf(caption: string, schema: TSchema): Html[] {
  const rows = rowsOf(schema as Schema, '').map(({ name, types, isRequired, description }) =>
    parts.member({
      name,
      optional: isRequired ? '' : parts.optional({}),
      types: types.join(' or '),
      description: inlineCode(description),
    }),
  );
  return rows.length === 0 ? [] : [parts.members({ caption, rows })];
}

function rowsOf(schema: Schema, prefix: string): Row[] {
  if (schema.anyOf) return merged(schema.anyOf.map((alternative) => rowsOf(alternative, prefix)));
  if (schema.items) return rowsOf(schema.items, prefix === '' ? '' : `${prefix.slice(0, -1)}[].`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => [
    {
      name: `${prefix}${name}`,
      types: [...new Set(typesOf(property[documentedAs] ?? property))],
      isRequired: schema.required?.includes(name) ?? false,
      description: describe({ ...property, ...property[documentedAs] }),
    },
    ...rowsOf(property, `${prefix}${name}.`),
  ]);
}

/** A member is optional unless every alternative requires it. */
function merged(alternatives: readonly (readonly Row[])[]): Row[] {
  const nonEmpty = alternatives.filter((rows) => rows.length > 0);
  const byName = Map.groupBy(nonEmpty.flat(), ({ name }) => name);
  return [...byName].map(([name, same]) => ({
    name,
    types: [...new Set(same.flatMap(({ types }) => types))],
    isRequired: same.length === nonEmpty.length && same.every(({ isRequired }) => isRequired),
    description: [...new Set(same.map(({ description }) => description))].join(' '),
  }));
}

function typesOf(schema: Schema): string[] {
  if ('const' in schema) return [JSON.stringify(schema.const)];
  if (schema.anyOf) return schema.anyOf.flatMap(typesOf);
  if (schema.items) return [`array of ${typesOf(schema.items).join(' or ')}`];
  if (schema.enum) return ['string'];
  return [schema.format === undefined ? (schema.type ?? 'any') : `${schema.type} (${schema.format})`];
}

function describe(schema: Schema): string {
  const { description = '', enum: values = [], items, anyOf = [] } = schema;
  const listed = [...values, ...(items?.enum ?? [])].map((value) => `\`${String(value)}\``);
  const bounds = boundsOf(schema);
  return [
    ...anyOf.map(describe),
    description === '' ? '' : `${description.replace(/\.$/, '')}.`,
    listed.length === 0 ? '' : `One of ${listed.join(', ')}.`,
    bounds.length === 0 ? '' : `${bounds.join('; ')}.`,
  ]
    .filter((text) => text !== '')
    .join(' ');
}

function boundsOf({ minLength, maxLength, minItems, maxItems, minimum, maximum }: Schema): string[] {
  const range = (least: number | undefined, most: number | undefined, unit: string): string[] =>
    most === undefined ? [] : [`${least === undefined ? 'At most' : `${least} to`} ${most}${unit}`];
  return [
    ...range(minLength, maxLength, ' characters'),
    ...range(minItems, maxItems, ' items'),
    ...range(minimum, maximum, ''),
  ];
}
