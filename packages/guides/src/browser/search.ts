/** The search in all pages. Its index loads when the person enters the field. */
import MiniSearch from 'minisearch';
import { findPages, searchOptions, type Found } from './search-terms.ts';

const resultsMax = 8;
/** That of the pages. This script is in `assets/<hash>/` there. */
const folder = new URL('../../', import.meta.url);

export function startSearch(): void {
  const form = document.querySelector<HTMLFormElement>('.search');
  const field = form?.querySelector('input');
  const list = form?.querySelector('ol');
  const status = form?.querySelector('p');
  if (form && field && list && status) new Search({ form, field, list, status }).start();
}

interface Parts {
  readonly form: HTMLFormElement;
  readonly field: HTMLInputElement;
  readonly list: HTMLOListElement;
  /** For screen readers. */
  readonly status: HTMLParagraphElement;
}

class Search {
  readonly #parts: Parts;
  #index: Promise<MiniSearch> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    const { form, field } = this.#parts;
    form.hidden = false;
    field.addEventListener('focus', () => void this.#load().catch(() => undefined));
    field.addEventListener('input', () => void this.#show());
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#links[0]?.click();
    });
    form.addEventListener('keydown', (event) => this.#move(event));
    form.addEventListener('focusout', ({ relatedTarget }) => {
      if (!(relatedTarget instanceof Node && form.contains(relatedTarget))) this.#close();
    });
    addEventListener('keydown', (event) => {
      const isTyping = event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey;
      if (event.key !== '/' || isTyping) return;
      event.preventDefault();
      field.focus();
    });
  }

  get #links(): HTMLAnchorElement[] {
    return [...this.#parts.list.querySelectorAll('a')];
  }

  /** A failure is not kept: the next attempt asks again. */
  #load(): Promise<MiniSearch> {
    this.#index ??= loadIndex().catch((error: unknown) => {
      this.#index = undefined;
      throw error;
    });
    return this.#index;
  }

  async #show(): Promise<void> {
    const { field, list, status } = this.#parts;
    const question = field.value;
    if (question.trim() === '') return this.#close();
    try {
      const index = await this.#load();
      if (field.value !== question) return;
      const found = findPages(index, question, resultsMax);
      list.replaceChildren(...found.map(resultOf));
      list.hidden = found.length === 0;
      status.textContent = found.length === 1 ? '1 page found' : `${found.length || 'No'} pages found`;
    } catch {
      this.#close();
      status.textContent = 'The search is not available';
    }
    status.classList.toggle('visually-hidden', !list.hidden);
  }

  #close(): void {
    const { list, status } = this.#parts;
    list.hidden = true;
    status.textContent = '';
  }

  /** Arrow keys move between the field and the results, Escape closes them. */
  #move(event: KeyboardEvent): void {
    const { field, list } = this.#parts;
    if (event.key === 'Escape') {
      field.focus();
      this.#close();
    }
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0 || list.hidden) return;
    event.preventDefault();
    const places: HTMLElement[] = [field, ...this.#links];
    const next = places.indexOf(document.activeElement as HTMLElement) + step;
    places[(next + places.length) % places.length]?.focus();
  }
}

async function loadIndex(): Promise<MiniSearch> {
  const response = await fetch(new URL('search.json', import.meta.url));
  if (!response.ok) throw new Error(`search.json: ${response.status}`);
  return MiniSearch.loadJSON(await response.text(), searchOptions) as MiniSearch;
}

function resultOf({ href, title, heading }: Found): HTMLLIElement {
  const [item, link, page] = [
    document.createElement('li'),
    document.createElement('a'),
    document.createElement('strong'),
  ];
  link.href = new URL(href, folder).href;
  page.textContent = title;
  const place = document.createElement('span');
  place.textContent = heading;
  link.append(page, place);
  item.append(link);
  return item;
}
