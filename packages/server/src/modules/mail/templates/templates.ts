/**
 * The templates in use: those of the operator, and the built-in ones. The operator's folder has three files for each
 * replaced template: `<template>.subject.txt`, `<template>.txt` and `<template>.html` for all languages, or
 * `<template>.de.subject.txt` and so on for one.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { languages, type Language } from '@keyreeve/contract';
import type { MailTemplate } from '../mail.ts';
import { builtInOf } from './built-in-languages.ts';
import { placeholdersOf, type Form } from './fill.ts';
import { htmlOf, type MailLook } from './html.ts';
import { samples } from './samples.ts';

export type Template = Readonly<Record<Form, string>>;
export type Templates = Readonly<Record<Language, Readonly<Record<MailTemplate, Template>>>>;

export const templateNames = Object.keys(samples) as readonly MailTemplate[];

const fileBytesMax = 65_536;
const endings: Readonly<Record<Form, string>> = { subject: '.subject.txt', text: '.txt', html: '.html' };
const forms = Object.keys(endings) as readonly Form[];
/** File names without their endings. */
const stems = templateNames.flatMap((name) => [name, ...languages.map((language) => `${name}.${language}`)]);
const fileNames = new Set(stems.flatMap((stem) => forms.map((form) => `${stem}${endings[form]}`)));

/**
 * @param look of the built-in templates
 * @returns the templates, and all mistakes of the operator as sentences that begin with a file name
 */
export function readTemplates(
  folder: string | undefined,
  look?: MailLook,
): { templates: Templates; mistakes: readonly string[] } {
  const mistakes: string[] = [];
  const names = folder === undefined ? [] : namesIn(folder, mistakes);
  // With a misspelt name, the built-in template would stay in use.
  const unknown = names.filter((name) => /\.(?:txt|html)$/.test(name) && !fileNames.has(name));
  mistakes.push(...unknown.map((name) => `${join(folder ?? '', name)} belongs to no template`));
  const own = new Map(
    stems
      .filter((stem) => forms.some((form) => names.includes(`${stem}${endings[form]}`)))
      .map((stem) => [stem, readTemplate(folder ?? '', stem, mistakes)]),
  );
  const templates = Object.fromEntries(
    languages.map((language) => [
      language,
      Object.fromEntries(
        templateNames.map((name) => [
          name,
          own.get(`${name}.${language}`) ??
            own.get(name) ?? { ...builtInOf[language][name], html: htmlOf(builtInOf[language][name], language, look) },
        ]),
      ),
    ]),
  ) as unknown as Templates;
  return { templates, mistakes };
}

function namesIn(folder: string, mistakes: string[]): string[] {
  try {
    return readdirSync(folder);
  } catch {
    mistakes.push(`${folder} can't be read as a folder`);
    return [];
  }
}

function readTemplate(folder: string, stem: string, mistakes: string[]): Template {
  const name = stem.split('.', 1)[0] as MailTemplate;
  const read = (form: Form): string => {
    const path = join(folder, `${stem}${endings[form]}`);
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

/** @throws TypeError if the file is not UTF-8, RangeError if it is too long, Error of the file system */
function readText(path: string): string {
  if (statSync(path).size > fileBytesMax) throw new RangeError(`has more than ${fileBytesMax} bytes`);
  return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)).replaceAll('\r\n', '\n');
}

function mistakesIn(name: MailTemplate, form: Form, text: string): string[] {
  const known = ['product', ...Object.keys(samples[name])];
  const used = placeholdersOf(text);
  // A mail is useless without its link. In a subject, the link would appear in lists of mails.
  const links = known.filter((value) => /link$/i.test(value));
  return [
    ...new Set(used.filter((value) => !known.includes(value)).map((value) => unknownPlaceholder(value, known))),
    ...(form === 'subject'
      ? links.filter((link) => used.includes(link)).map((link) => `must not contain {{${link}}}`)
      : links.filter((link) => !used.includes(link)).map((link) => `must contain {{${link}}}`)),
    ...(text.trim() === '' ? ['is empty'] : []),
    ...(form === 'subject' && text.trim().includes('\n') ? ['has more than one line'] : []),
    ...(withoutPlaceholders(text).includes('{{') ? ['contains {{ that does not begin a placeholder'] : []),
  ];
}

const unknownPlaceholder = (value: string, known: readonly string[]): string =>
  `contains {{${value}}}, which is not a placeholder of this template: it has ${known.join(', ')}`;

const withoutPlaceholders = (text: string): string => text.replaceAll(/\{\{[^{}]*\}\}/g, '');
