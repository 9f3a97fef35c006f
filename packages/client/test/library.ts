/**
 * The modules of the library that the tests of its rules use: those of the sources, or of a broken build. A broken build has the
 * edited text of some modules; it exists in this process only.
 */
import { registerHooks } from 'node:module';
import type * as client from '../src/client.ts';
import type * as fetchTransport from '../src/fetch-transport.ts';
import type * as nodeTransport from '../src/node-transport.ts';
import type * as question from '../src/question.ts';
import type * as transport from '../src/transport.ts';
import type * as unavailable from '../src/unavailable.ts';

export type Library = Pick<typeof client, 'Client'> &
  Pick<typeof fetchTransport, 'openFetchTransport'> &
  Pick<typeof nodeTransport, 'openNodeTransport'> &
  Pick<typeof question, 'isIpAddress'> &
  Pick<typeof transport, 'Unanswered'> &
  Pick<typeof unavailable, 'KeyreeveUnavailable'>;

const files = ['client', 'fetch-transport', 'node-transport', 'question', 'transport', 'unavailable'];
const source = new URL('../src/', import.meta.url).href;

/** Edited texts by file, by the number of the build. */
const builds = new Map<string, ReadonlyMap<string, string>>();

/** @param edited texts by file; none for the library itself */
export async function loadLibrary(edited: ReadonlyMap<string, string> = new Map()): Promise<Library> {
  let query = '';
  if (edited.size > 0) {
    const build = String(builds.size + 1);
    builds.set(build, edited);
    query = `?build=${build}`;
  }
  const modules = await Promise.all(files.map((file) => import(`${source}${file}.ts${query}`) as Promise<object>));
  return Object.assign({}, ...modules) as Library;
}

const buildOf = (url: string | undefined): string | null =>
  url?.startsWith(source) === true ? new URL(url).searchParams.get('build') : null;

registerHooks({
  // A module of a broken build imports modules of the same build.
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const build = buildOf(context.parentURL);
    return build !== null && found.url.startsWith(source) ? { ...found, url: `${found.url}?build=${build}` } : found;
  },
  load(url, context, next) {
    const text = builds.get(buildOf(url) ?? '')?.get(new URL(url).pathname.split('/').at(-1) ?? '');
    return text === undefined ? next(url, context) : { format: 'module-typescript', source: text, shortCircuit: true };
  },
});
