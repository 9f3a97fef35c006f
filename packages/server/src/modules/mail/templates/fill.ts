/**
 * Fills in a template: each `{{name}}` is replaced by its value in a single pass. Templates have no logic, and values are
 * not parsed, so a value is always text.
 */

import type { Language } from '@keyreeve/contract';
import { replaceExceptJoiners } from '../../../foundation/joiners.ts';

/** A list takes one line for each item. */
export type Value = string | number | readonly string[];

export type Form = 'subject' | 'text' | 'html';

const placeholder = /\{\{([^{}]*)\}\}/g;
/** Line breaks, and characters that can disguise a text: controls, direction marks, invisible characters. Joiners stay where words need them. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;
const instant = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z$/;
const noItem: Readonly<Record<Language, string>> = { en: 'none', de: 'keine' };

/** The names of the placeholders, in order. */
export const placeholdersOf = (template: string): string[] =>
  [...template.matchAll(placeholder)].map(([, name = '']) => name.trim());

export function fill(
  template: string,
  values: ReadonlyMap<string, Value>,
  form: Form,
  language: Language = 'en',
): string {
  return template.replace(placeholder, (_, name: string) => print(values.get(name.trim()) ?? '', form, language));
}

function print(value: Value, form: Form, language: Language): string {
  const items = typeof value === 'object' ? (value.length === 0 ? [noItem[language]] : value) : [String(value)];
  const lines = items.map(plain);
  if (form === 'html') return lines.map(escapeHtml).join('<br>\n');
  return lines.join(form === 'subject' ? ', ' : '\n');
}

/** The value on one line, with instants in a readable form. */
const plain = (text: string): string =>
  replaceExceptJoiners(text, unprintable, ' ').trim().replace(instant, '$1 $2 UTC');

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => entities[char] ?? '');
