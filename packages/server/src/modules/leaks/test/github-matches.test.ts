/** Where GitHub found a secret, for the audit log. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourceOf } from '../github-matches.ts';

test('the source of a match is the host of its URL, and on github.com also the repository', () => {
  const repository = (name: string) => ({ host: 'github.com', repository: name });
  for (const [url, source] of [
    ['https://github.com/octocat/hello.world/blob/1234/a/b.txt', repository('octocat/hello.world')],
    ['https://GitHub.com/octocat/hello', repository('octocat/hello')],
    ['https://user:secret@github.com/octocat/hello?a=b#c', repository('octocat/hello')],
    ['https://github.com/octocat', { host: 'github.com' }],
    ['https://github.com/octo%20cat/hello', { host: 'github.com' }],
    [`https://github.com/${'a'.repeat(65)}/hello`, { host: 'github.com' }],
    ['https://gist.github.com/octocat/6cad326836d38bd3a7ae', { host: 'gist.github.com' }],
    ['https://registry.example/package/a', { host: 'registry.example' }],
    ['', undefined],
    ['some_url', undefined],
    [null, undefined],
    ['http://github.com/octocat/hello', undefined],
    ['javascript:alert(1)', undefined],
    ['https://[::1]/octocat/hello', undefined],
    [`https://${'a.'.repeat(127)}example/`, undefined],
  ] as const)
    assert.deepEqual(sourceOf(url), source, String(url));
});
