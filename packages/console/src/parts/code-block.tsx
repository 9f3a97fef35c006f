/** A command or a text file, in letters of equal width. Scrolls sideways, and wraps on phones; never contains a secret. */
import type { Ref } from 'preact';
import { useRef } from 'preact/hooks';
import { text } from '../text/text.ts';
import { Button } from './button.tsx';
import { useCopy } from './copy.ts';

interface CodeBlockProps {
  readonly label: string;
  readonly code: string;
  readonly of?: Ref<HTMLPreElement>;
}

export const CodeBlock = ({ label, code, of = null }: CodeBlockProps) => (
  // As an object: the region has to be reachable by keyboard, because it scrolls.
  <pre ref={of} class="code-block" role="group" aria-label={label} {...{ tabIndex: 0 }}>
    {code}
  </pre>
);

/** With a button that copies all of it. */
export function CopiedCode({ label, code }: CodeBlockProps) {
  const { isCopied, isFailed, copy } = useCopy();
  const element = useRef<HTMLPreElement>(null);
  const selectAndCopy = (): void => {
    if (element.current) getSelection()?.selectAllChildren(element.current);
    void copy(code);
  };
  return (
    <div class="stack tight">
      <CodeBlock label={label} code={code} of={element} />
      <div class="actions">
        <Button isSmall icon={isCopied ? 'check' : 'copy'} onClick={selectAndCopy}>
          {isCopied ? text.general.copied : text.general.copy}
          <span class="visually-hidden"> {label}</span>
        </Button>
        {isFailed && <span class="hint">{text.general.copyFailed}</span>}
      </div>
    </div>
  );
}
