/** Everything in a browser in which a secret could stay: the document, its URL and history, storage and caches. */
import type { Page } from 'playwright-core';

const read = `(async () => {
  const values = [...document.querySelectorAll('input, textarea, select')].map(({ value }) => value);
  const databases = [];
  for (const { name } of await indexedDB.databases()) databases.push(name);
  const cached = [];
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys()) cached.push(request.url, await (await cache.match(request)).text());
  }
  return {
    document: document.documentElement.outerHTML,
    text: document.documentElement.textContent,
    values,
    title: document.title,
    url: location.href,
    history: JSON.stringify(history.state),
    localStorage: JSON.stringify(localStorage),
    sessionStorage: JSON.stringify(sessionStorage),
    windowName: name,
    databases,
    cached,
    cookies: document.cookie,
    selection: String(getSelection()),
    resources: performance.getEntriesByType('resource').map(({ name }) => name),
  };
})()`;

/** @returns the places that contain the text */
export async function placesWith(page: Page, text: string): Promise<string[]> {
  const places = (await page.evaluate(read)) as Record<string, unknown>;
  return Object.keys(places).filter((place) => JSON.stringify(places[place]).includes(text));
}
