/** The code in the README of the Python library works against the service. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startRealService, type StartedService } from '../../conformance/real-service.ts';
import { untilAnswered } from '../../conformance/until-answered.ts';
import { newBackend } from '../../server/test-kit/service-accounts.ts';
import { newTrustedKey } from '../../server/test-kit/trusted-key.ts';
import { freePort } from '../../server/test-kit/free-port.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { packageFolder, python, pythonEnvironment, runPython, skip } from './python.ts';

/** Without the indentation of a list. */
const pythonBlocks = (page: string): string[] =>
  Array.from(page.matchAll(/^( *)```python\n([^]*?)^ *```$/gm), ([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );

/** Name → text of each block whose first line names a file. */
const files = new Map(
  pythonBlocks(readFileSync(`${packageFolder}README.md`, 'utf8')).map((block) => [
    /^# (\w+\.py)\n/.exec(block)?.[1] ?? '',
    block,
  ]),
);

const wsgi = (app: string): string[] => [
  '-c',
  `import os
from wsgiref.simple_server import make_server
${app}
make_server("127.0.0.1", int(os.environ["PORT"]), app).serve_forever()`,
];
const django = `import django, settings as own
from django.conf import settings
settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF="urls", KEYREEVE=own.KEYREEVE)
django.setup()
from django.core.handlers.wsgi import WSGIHandler
app = WSGIHandler()`;
const urls = `from django.urls import path
import views
urlpatterns = [path("orders", views.orders)]
`;

/** What starts the application of each file, with PORT in the environment. */
const servers: Readonly<Record<string, (port: number) => string[]>> = {
  'fastapi_app.py': (port) => ['-m', 'uvicorn', 'fastapi_app:app', '--port', String(port)],
  'asgi_app.py': (port) => ['-m', 'uvicorn', 'asgi_app:app', '--port', String(port)],
  'flask_app.py': () => wsgi('from flask_app import app'),
  'http_app.py': () => ['http_app.py'],
  'wsgi_app.py': () => wsgi('from wsgi_app import app'),
  'views.py': () => wsgi(django),
};

const settings = ({ url, serviceKey, credentials }: StartedService): Record<string, string> => ({
  ...pythonEnvironment(),
  KEYREEVE_URL: url,
  KEYREEVE_SERVICE_KEY: serviceKey,
  API_KEY: credentials['valid'] ?? '',
});

test('the README shows a file for each guard', () => {
  assert.deepEqual(
    [...files.keys()].toSorted(),
    ['manage.py', 'settings.py', 'verify.py', 'workload.py', ...Object.keys(servers)].toSorted(),
  );
});

test('the first example prints what the README shows', { skip }, async () => {
  await using service = await startRealService();
  const run = () => runPython(['-c', files.get('verify.py') ?? ''], settings(service));
  let { output } = await run();
  // Keyreeve has not answered within the deadline of the library.
  while (output.includes('no result within')) ({ output } = await run());
  const [, shown] = / {2}# (.*)$/m.exec(files.get('verify.py') ?? '') ?? [];
  assert.equal(output.trim(), shown);
});

test('the example of the management prints what the README shows', { skip }, async () => {
  await using service = await startRealService();
  const { key } = await newBackend(service.app);
  const text = files.get('manage.py') ?? '';
  const { output } = await runPython(['-c', text], { ...settings(service), KEYREEVE_MANAGEMENT_KEY: key });
  const [, shown] = / {2}# (.*)$/m.exec(text) ?? [];
  assert.equal(output.trim(), shown);
});

test('the example of the exchange prints what the README shows', { skip }, async () => {
  await using trusted = await newTrustedKey();
  using folder = newTempFolder();
  const path = join(folder.path, 'token');
  writeFileSync(path, trusted.token());
  const text = files.get('workload.py') ?? '';
  const settingsOfKey = { KEYREEVE_URL: trusted.app.url, KEY_ID: String(trusted.keyId) };
  const script = text.replace('/var/run/secrets/keyreeve/token', path);
  const { output } = await runPython(['-c', script], { ...pythonEnvironment(), ...settingsOfKey });
  const [, shown] = / {2}# (.*)$/m.exec(text) ?? [];
  assert.equal(output.trim(), shown);
});

test('each guard in the README lets a key with the scope through, and no other request', { skip }, async () => {
  await using service = await startRealService();
  using folder = newTempFolder();
  for (const [name, text] of [...files, ['urls.py', urls] as const]) writeFileSync(join(folder.path, name), text);
  for (const [name, argsOf] of Object.entries(servers)) {
    const port = await freePort();
    const env = { ...process.env, ...settings(service), PORT: String(port) };
    const child = spawn(python, argsOf(port), { cwd: folder.path, env, stdio: 'ignore' });
    try {
      const url = `http://127.0.0.1:${port}/orders`;
      const accepted = await untilAnswered(url, service.credentials['valid'] ?? '');
      assert.match(((await accepted.json()) as { account: string }).account, /^acc_/, name);
      const refused = await untilAnswered(url, service.credentials['deleted'] ?? '');
      assert.equal(((await refused.json()) as { code: string }).code, 'invalid_credential', name);
    } finally {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
  }
});
