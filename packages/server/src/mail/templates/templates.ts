/**
 * The templates in force: the built-in ones, and those of the operator in their place. A folder of an operator has three
 * files for each template that it replaces: `<template>.subject.txt`, `<template>.txt` and `<template>.html`.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { MailTemplate } from '../mail.ts';
import { builtIn } from './built-in.ts';
import { placeholdersOf, type Form } from './fill.ts';
import { htmlOf } from './html.ts';
import { samples } from './samples.ts';

export type Template = Readonly<Record<Form, string>>;
export type Templates = Readonly<Record<MailTemplate, Template>>;

export const templateNames = Object.keys(samples) as readonly MailTemplate[];

const fileBytesMax = 65_536;
const endings: Readonly<Record<Form, string>> = { subject: '.subject.txt', text: '.txt', html: '.html' };
const forms = Object.keys(endings) as readonly Form[];

/** @returns what is wrong with the operator's as well: all of it, each a sentence that begins with a file */
export function readTemplates(folder: string | undefined): { templates: Templates; mistakes: readonly string[] } {
  const mistakes: string[] = [];
  const names = folder === undefined ? [] : namesIn(folder, mistakes);
  const fileNames = new Set(templateNames.flatMap((name) => forms.map((form) => `${name}${endings[form]}`)));
  // A misspelt name would leave the built-in one in force.
  const strangers = names.filter((name) => /\.(?:txt|html)$/.test(name) && !fileNames.has(name));
  mistakes.push(...strangers.map((name) => `${join(folder ?? '', name)} belongs to no template`));
  const templates = Object.fromEntries(
    templateNames.map((name) => {
      const ownForms = forms.filter((form) => names.includes(`${name}${endings[form]}`));
      if (folder === undefined || ownForms.length === 0) return [name, whole(name)];
      return [name, readTemplate(folder, name, mistakes)];
    }),
  ) as Templates;
  return { templates, mistakes };
}

const whole = (name: MailTemplate): Template => ({ ...builtIn[name], html: htmlOf(builtIn[name]) });

function namesIn(folder: string, mistakes: string[]): string[] {
  try {
    return readdirSync(folder);
  } catch {
    mistakes.push(`${folder} can't be read as a folder`);
    return [];
  }
}

function readTemplate(folder: string, name: MailTemplate, mistakes: string[]): Template {
  const read = (form: Form): string => {
    const path = join(folder, `${name}${endings[form]}`);
    try {
      const text = readText(path);
      mistakes.push(...mistakesIn(name, form, text).map((mistake) => `${path} ${mistake}`));
      return text;
    } catch (error) {
      const reason =
        error instanceof TypeError ? 'is not UTF-8' : error instanceof RangeError ? error.message : undefined;
      mistakes.push(`${path} ${reason ?? 'can’t be read: a template needs its subject, its text and its HTML'}`);
      return '';
    }
  };
  return { subject: read('subject').trim(), text: read('text'), html: read('html') };
}

/** @throws TypeError when it isn't UTF-8, RangeError when it is too long, or what the system says */
function readText(path: string): string {
  if (statSync(path).size > fileBytesMax) throw new RangeError(`has more than ${fileBytesMax} bytes`);
  return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)).replaceAll('\r\n', '\n');
}

function mistakesIn(name: MailTemplate, form: Form, text: string): string[] {
  const known = ['product', ...Object.keys(samples[name])];
  const used = placeholdersOf(text);
  // Without its link a mail can't be acted upon; in a subject it would be in every list of mails.
  const links = known.filter((value) => /link$/i.test(value));
  return [
    ...new Set(used.filter((value) => !known.includes(value)).map((value) => unknownPlaceholder(value, known))),
    ...(form === 'subject'
      ? links.filter((link) => used.includes(link)).map((link) => `must not have {{${link}}} in it`)
      : links.filter((link) => !used.includes(link)).map((link) => `must have {{${link}}} in it`)),
    ...(text.trim() === '' ? ['is empty'] : []),
    ...(form === 'subject' && text.trim().includes('\n') ? ['has more than one line'] : []),
    ...(withoutPlaceholders(text).includes('{{') ? ['has braces that belong to no placeholder'] : []),
  ];
}

const unknownPlaceholder = (value: string, known: readonly string[]): string =>
  `has {{${value}}}, which it isn't given; known are ${known.join(', ')}`;

const withoutPlaceholders = (text: string): string => text.replaceAll(/\{\{[^{}]*\}\}/g, '');
