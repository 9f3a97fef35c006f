/** The texts about the rotation of secrets in the user's language. They load with the parts that show them. */
import type { RotationTexts } from './texts.ts';

/** Defined before the first of these parts is rendered. */
export let rotationText: RotationTexts;

export const setRotationTexts = (texts: RotationTexts): void => void (rotationText = texts);
