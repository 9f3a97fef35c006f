/** The API reference says what the contract says. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { allRoutes, errors, refusals } from '@keyreeve/contract';
import { newSite } from './built-site.ts';

const site = newSite('service');
after(() => site[Symbol.dispose]());
const pages = [...site.files].filter(([name]) => /^api[./]/.test(name) && name.endsWith('.html'));
const withoutSpaceBetweenTags = (html: string): string => html.replaceAll(/>\s+</g, '><');
const text = withoutSpaceBetweenTags(pages.map(([, html]) => html).join('\n'));

test('the reference has every operation on the page of its group, every error and every reason of a rejection', () => {
  const overview = site.files.get('api.html') ?? '';
  for (const { tag, method, path, summary } of allRoutes) {
    const name = `api/${tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;
    assert.ok(site.files.get(`${name}.html`)?.includes(`<code>${method} ${path}</code>`), `${method} ${path}`);
    assert.ok(overview.includes(`href="${name}#`) && overview.includes(summary), summary);
  }
  for (const code of Object.keys(errors))
    assert.ok(site.files.get('api/errors.html')?.includes(`<h2 id="${code}">`), code);
  const verification = /<h2 id="verify">[^]*?<h2/.exec(text)?.[0] ?? '';
  for (const [code, why] of Object.entries(refusals))
    assert.ok(verification.includes(`<tr><td><code>${code}</code></td><td>${why}</td></tr>`), code);
});

test('the reference shows the bounds for clients', () => {
  const rows = (name: string): string[] =>
    [...text.matchAll(/<tr><td><code>(.*?)<\/tr>/g)]
      .map(([row]) => row)
      .filter((row) => row.startsWith(`<tr><td><code>${name}</code>`));
  assert.match(rows('nickname').join('\n'), /<td>At most 256 bytes; unique [^<]* 1 to 64 characters\.<\/td>/);
  assert.ok(rows('limit').length > 0);
  for (const row of rows('limit')) assert.match(row, /<td>integer<\/td><td>[^<]* 1 to 100\.<\/td>/);
});
