/** The key page in a frame. The import defines the element, in browsers only. */
'use client';

import '@keyreeve/elements';

export function Keys() {
  return <keyreeve-keys src="/api-keys/frame" style={{ display: 'block', minHeight: '36rem' }} />;
}
