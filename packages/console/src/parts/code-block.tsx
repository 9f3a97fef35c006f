/** A command or a text file, in letters of equal width. Scrolls sideways; never contains a secret. */
export const CodeBlock = ({ label, code }: { readonly label: string; readonly code: string }) => (
  // As an object: the region has to be reachable by keyboard, because it scrolls.
  <pre class="code-block" role="group" aria-label={label} {...{ tabIndex: 0 }}>
    {code}
  </pre>
);
