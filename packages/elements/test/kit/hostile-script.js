/**
 * The script of an attacker in the page of a host, before all other scripts. It keeps everything that it can read in `loot`, and tries to
 * get the URL of the frame, and a session. The test searches `loot`.
 */
const loot = [];
const take = (where, ...values) => loot.push([where, ...values.map(String)].join(' '));
const roots = [];
window.loot = loot;

const { value: attach } = Object.getOwnPropertyDescriptor(Element.prototype, 'attachShadow');
Element.prototype.attachShadow = function (options) {
  const root = attach.call(this, options);
  roots.push(root);
  return root;
};

// What the element does with its frame and with messages.
for (const name of ['src', 'contentWindow']) {
  const known = Object.getOwnPropertyDescriptor(HTMLIFrameElement.prototype, name);
  Object.defineProperty(HTMLIFrameElement.prototype, name, {
    ...known,
    get() {
      const value = known.get.call(this);
      take(name, typeof value === 'string' ? value : typeof value);
      return value;
    },
    ...(known.set && {
      set(value) {
        take(`set ${name}`, value);
        known.set.call(this, value);
      },
    }),
  });
}
const eventTypes =
  'message messageerror copy cut paste beforeinput input keydown keyup pointerdown selectionchange focusin error load securitypolicyviolation hashchange popstate storage created rotated changed deleted ended';
for (const type of eventTypes.split(' '))
  addEventListener(
    type,
    (event) => {
      const { data, detail, key, clipboardData, message, blockedURI, sourceFile, origin } = event;
      const text = clipboardData?.getData('text/plain') ?? '';
      take(type, JSON.stringify([data, detail, key, text, message, blockedURI, sourceFile, origin]));
    },
    true,
  );
for (const name of ['writeText', 'write'])
  Object.defineProperty(Clipboard.prototype, name, { value: (...given) => take(name, JSON.stringify(given)) });

for (const type of PerformanceObserver.supportedEntryTypes)
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) take('performance', JSON.stringify(entry));
  }).observe({ type, buffered: true });
new ReportingObserver(
  (reports) => {
    for (const report of reports) take('report', JSON.stringify(report));
  },
  { buffered: true },
).observe();

const attempt = async (where, read) => {
  try {
    take(where, await read());
  } catch (error) {
    take(where, error.name, error.message);
  }
};

/** What the page can read at this moment. */
window.look = async () => {
  for (const root of [document.documentElement, ...roots]) take('html', root.outerHTML ?? root.innerHTML);
  const frames = [document, ...roots].flatMap((root) => [...root.querySelectorAll('iframe')]);
  for (const frame of frames)
    for (const read of [
      (each) => each.contentWindow.location.href,
      (each) => each.contentWindow.document.body.innerHTML,
      (each) => each.contentDocument?.body.innerHTML,
      (each) => each.contentWindow.name,
      (each) => each.contentWindow.loot,
      (each) => each.contentWindow.length,
      (each) => each.contentWindow.localStorage.length,
      (each) => each.contentWindow.performance.getEntries(),
      (each) => each.contentWindow.frameElement,
      (each) => JSON.stringify(Object.keys(each.contentWindow)),
    ])
      await attempt('frame', () => read(frame));
  for (const read of [
    () => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, window.name, history.state]),
    async () => JSON.stringify([await indexedDB.databases(), await caches.keys(), await cookieStore.getAll()]),
    () => JSON.stringify(navigation.entries().map(({ url, key }) => [url, key])),
    () => JSON.stringify(performance.getEntries()),
    () => getSelection(),
    () => navigator.clipboard.readText(),
  ])
    await attempt('read', read);
};

const answerOf = async (response) =>
  JSON.stringify([response.type, response.status, response.url, [...response.headers], await response.text()]);

/** @param address of the endpoint of the host */
window.fetchAddress = async (address) => {
  for (const redirect of ['follow', 'manual', 'error'])
    for (const mode of ['cors', 'no-cors', 'same-origin'])
      await attempt('fetch', async () =>
        answerOf(
          await fetch(address, {
            redirect,
            mode,
            headers: { 'Sec-Fetch-Dest': 'iframe', 'X-Sec-Fetch-Dest': 'iframe' },
          }),
        ),
      );
  await attempt('request', async () => {
    const request = new XMLHttpRequest();
    request.open('GET', address);
    await new Promise((resolve) => {
      request.addEventListener('loadend', resolve);
      request.send();
    });
    return [request.status, request.responseURL, request.getAllResponseHeaders(), request.responseText];
  });
  for (const { tag, name, more } of [
    { tag: 'img', name: 'src' },
    { tag: 'script', name: 'src' },
    { tag: 'object', name: 'data' },
    { tag: 'embed', name: 'src' },
    { tag: 'link', name: 'href', more: { rel: 'prefetch' } },
    { tag: 'link', name: 'href', more: { rel: 'stylesheet' } },
    { tag: 'iframe', name: 'src', more: { sandbox: 'allow-scripts allow-same-origin' } },
    { tag: 'iframe', name: 'src', more: { name: 'stolen' } },
  ])
    await attempt(tag, () => {
      const element = Object.assign(document.createElement(tag), more, { [name]: `${address}?${tag}` });
      for (const type of ['load', 'error'])
        element.addEventListener(type, () => {
          void attempt(tag, () => [type, element.contentDocument?.documentElement.outerHTML]);
        });
      document.body.append(element);
    });
  navigator.sendBeacon(address);
};

/** @param service its origin @param tokens that the script has found, with the ids of their sessions */
window.redeem = async (service, tokens) => {
  for (const [id, token] of tokens)
    for (const mode of ['cors', 'no-cors', 'same-origin'])
      for (const type of ['application/json', 'text/plain'])
        await attempt('redeem', async () =>
          answerOf(
            await fetch(`${service}/auth/portal/session`, {
              method: 'POST',
              mode,
              headers: { 'Content-Type': type },
              body: JSON.stringify({ id, token }),
            }),
          ),
        );
};
