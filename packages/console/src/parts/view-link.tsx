/** A link to another view of the page. */
import type { ComponentChildren } from 'preact';
import { useNavigation } from '../navigation.ts';

interface ViewLinkProps {
  readonly href: string;
  readonly class?: string;
  readonly title?: string;
  readonly children: ComponentChildren;
}

export function ViewLink({ href, children, ...rest }: ViewLinkProps) {
  const { route, isInMemory } = useNavigation();
  return isInMemory ? (
    <button type="button" {...rest} onClick={() => route(href)}>
      {children}
    </button>
  ) : (
    <a href={href} {...rest}>
      {children}
    </a>
  );
}
