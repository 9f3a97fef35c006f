/**
 * HTML from template files. A placeholder `{{name}}` is replaced by an escaped value. Templates stay files so that tools
 * format and check them. They are read once, when the module that uses them is loaded.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Text that is HTML already, so that a template inserts it unchanged. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Html | readonly Html[];

/** @throws Error when a placeholder has no value */
export type Template = (values: Readonly<Record<string, Value>>) => Html;

export interface Page {
  readonly template: Template;
  /**
   * Content-Security-Policy: only the page's own style and script apply, only the script sends requests, and it cannot turn
   * text into HTML (Trusted Types).
   */
  readonly policy: string;
}

/** For text and for attribute values in double quotes. */
export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Text in which backticks mark code. */
export const inlineCode = (text: string): Html =>
  new Html(escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>'));

/**
 * Reads a page. Its style sheets and its script, if it has one, become part of the page: a browser loads nothing else, except images
 * of the service, if the page has some.
 * @param more.style follows the style sheets
 * @throws Error when a file cannot be read
 */
export function readPage(url: URL, more: { readonly style?: string; readonly hasImages?: boolean } = {}): Page {
  const styles = /(?:<link rel="stylesheet" href="[^"]+" \/>\n)+/;
  const script = /<script src="([^"]+)"><\/script>/;
  const markup = readMarkup(url);
  const read = (name: string): string => readFileSync(new URL(name, url), 'utf8');
  const styleText = [...markup.matchAll(/ rel="stylesheet" href="([^"]+)"/g)]
    .map(([, name = '']) => read(name))
    .concat(more.style ?? [])
    .join('');
  const [, scriptName] = script.exec(markup) ?? [];
  const scriptText = scriptName && read(scriptName);
  const fill = templateOf(markup);
  return {
    template: (values) =>
      new Html(
        fill(values)
          .text.replace(styles, () => `<style>${styleText}</style>\n`)
          .replace(script, () => `<script>${scriptText ?? ''}</script>`),
      ),
    policy: [
      "default-src 'none'",
      `style-src ${hashSource(styleText)}`,
      ...(more.hasImages ? ["img-src 'self'"] : []),
      ...(scriptText === undefined ? [] : [`script-src ${hashSource(scriptText)}`, "connect-src 'self'"]),
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].join('; '),
  };
}

/** Reads a file of `<template id="…">` elements. */
export function readTemplates<Name extends string>(url: URL, names: readonly Name[]): Readonly<Record<Name, Template>> {
  const found = new Map(
    [...readMarkup(url).matchAll(/<template id="([^"]+)">([^]*?)<\/template>/g)].map(([, id = '', content = '']) => [
      id,
      content.trim(),
    ]),
  );
  return Object.fromEntries(
    names.map((name) => {
      const content = found.get(name);
      if (content === undefined) throw new Error(`${url.href} has no template ${name}`);
      return [name, templateOf(content)];
    }),
  ) as Record<Name, Template>;
}

/** Comments and indentation are only for readers of the file. */
const readMarkup = (url: URL): string =>
  readFileSync(url, 'utf8')
    .replaceAll(/<!--[^]*?-->\s*/g, '')
    .replaceAll(/\n +/g, '\n');

function templateOf(markup: string): Template {
  return (values) =>
    new Html(
      markup.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
        const value = values[name];
        if (value === undefined) throw new Error(`the placeholder ${name} has no value`);
        return textOf(value);
      }),
    );
}

function textOf(value: Value): string {
  if (value instanceof Html) return value.text;
  return typeof value === 'object' ? value.map(({ text }) => text).join('\n') : escapeHtml(String(value));
}

/** CSP Level 3, section 2.3.1: the SHA-256 of the element's content in base64. */
const hashSource = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
