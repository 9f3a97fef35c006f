/** How the search takes texts and questions apart. The index and the page have to do the same. */
import type MiniSearch from 'minisearch';
import type { Options } from 'minisearch';

/** A part of a page, as the index stores it. */
export interface Found {
  readonly id: number;
  /** From the start page's folder. */
  readonly href: string;
  readonly title: string;
  /** Empty for the start of the page. */
  readonly heading: string;
}

export interface Searched extends Found {
  /** What the navigation calls it; empty if it does not have it. */
  readonly task: string;
  readonly text: string;
}

/** Words of questions, which every page has. */
const common = new Set(
  (
    'a about all an and any are as at be by can could do does for from get has have how i if in into is it its me my no not of on or our ' +
    'should so than that the their then there they this to us was we what when where which who why will with would you your'
  ).split(' '),
);

/** Endings of English words. What remains has three letters or more. */
const ending = /(?<=[a-z]{3})(?:ing|ed|es|s|e)$/;

/** `1,000` is one word, `api_key.deleted` are three. */
const tokenize = (text: string): string[] => text.replaceAll(/(?<=\d),(?=\d{3})/g, '').split(/[^\p{L}\p{N}]+/u);

const wordOf = (term: string): string | undefined => {
  const word = term.toLowerCase();
  return word === '' || common.has(word) ? undefined : word.replace(ending, '');
};

/** Words of questions, and those of the pages that answer them. */
const synonyms = new Map(
  Object.entries({
    '2fa': 'second factor',
    admin: 'administrator',
    certificate: 'tls proxy machine',
    embed: 'frame product',
    forgot: 'lost reset',
    forgotten: 'lost reset',
    https: 'tls proxy machine',
    iframe: 'frame key page',
    instance: 'cluster',
    k8s: 'kubernetes',
    login: 'sign',
    mfa: 'second factor',
    phone: 'authenticator factor',
    port: 'settings configure',
    portal: 'key page product',
    postgres: 'postgresql',
    replica: 'cluster instance',
    scale: 'cluster machine',
    ssl: 'tls proxy',
    sso: 'single sign',
    totp: 'second factor',
    user: 'account',
  }).map(([word, others]) => [wordOf(word), others.split(' ').flatMap((other) => wordOf(other) ?? [])]),
);

export const searchOptions: Options<Searched> = {
  fields: ['task', 'title', 'heading', 'text'],
  storeFields: ['href', 'title', 'heading'],
  tokenize,
  processTerm: wordOf,
  searchOptions: {
    processTerm: (term) => {
      const word = wordOf(term);
      return word === undefined ? undefined : [word, ...(synonyms.get(word) ?? [])];
    },
    boost: { task: 4, title: 4, heading: 2 },
    // The word that is being typed.
    prefix: (term, index, terms) => index === terms.length - 1 && term.length > 1,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
  },
};

/** A guide says what to do, so it comes before the operation that it names, and before what assesses the service. */
const otherWeight = 0.6;

/**
 * The best part of each page. What has more words of the question comes first.
 * @param countMax of the pages
 */
export function findPages(index: MiniSearch, question: string, countMax: number): Found[] {
  const found = index.search(question).map(({ score, queryTerms, ...part }) => ({
    ...(part as unknown as Found),
    rank: score * queryTerms.length * (isOther.test((part as unknown as Found).href) ? otherWeight : 1),
  }));
  const pages = new Map<string, Found>();
  for (const part of found.toSorted((one, other) => other.rank - one.rank)) {
    const page = part.href.replace(/#.*/, '');
    if (!pages.has(page) && pages.size < countMax) pages.set(page, part);
  }
  return [...pages.values()];
}

const isOther = /^(?:api[/.#]|asvs|threats|proof|timing)/;
