/**
 * The page on which a person approves or denies what a program asks for. The person types the code that the program shows or, if a link
 * carried it, confirms that the program shows it: otherwise the link of another person would be enough.
 */
import { useLayoutEffect } from 'preact/hooks';
import { CompareStep, TypeStep } from './code-steps.tsx';
import { flow, resume, takeLink } from './flow.ts';
import { OutcomeStep } from './outcome-step.tsx';
import { ReviewStep } from './review-step.tsx';

export function ApprovalPage() {
  useLayoutEffect(() => {
    resume();
    addEventListener('hashchange', takeLink);
    return () => removeEventListener('hashchange', takeLink);
  }, []);
  return <div class="approval stack">{stepOf()}</div>;
}

function stepOf() {
  const current = flow.value;
  switch (current.step) {
    case 'type':
      return <TypeStep key="type" />;
    case 'compare':
      return <CompareStep code={current.code} key={current.code} />;
    case 'review':
      return <ReviewStep found={current.found} key="review" />;
    case 'outcome':
      return <OutcomeStep {...current} key="outcome" />;
  }
}
