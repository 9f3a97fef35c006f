/** Colours as numbers: conversion to sRGB, contrast as of WCAG 2.2, and mixtures. */
import { parseColour } from '../../../elements/src/messages.ts';

/** Red, green and blue in sRGB, from 0 to 255. */
export type Rgb = readonly [number, number, number];

export const black: Rgb = [0, 0, 0];
export const white: Rgb = [255, 255, 255];

/** @param text of a look. @returns undefined for a text that is not a colour */
export function rgbOf(text: string): Rgb | undefined {
  const colour = parseColour(text);
  if (!colour) return undefined;
  return colour.space === 'rgb' ? colour.values : fromOklch(colour.values);
}

/** CSS Color 4, section 9.4. What is outside of sRGB becomes its nearest edge. */
function fromOklch([lightness, chroma, hue]: readonly [number, number, number]): Rgb {
  const angle = (hue * Math.PI) / 180;
  const a = chroma * Math.cos(angle);
  const b = chroma * Math.sin(angle);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    toByte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    toByte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    toByte(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

function toByte(linear: number): number {
  const value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
  return Math.round(255 * Math.min(1, Math.max(0, value)));
}

function luminanceOf(colour: Rgb): number {
  const [r, g, b] = colour.map((byte) => {
    const value = byte / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** From 1 to 21. */
export function contrastOf(one: Rgb, other: Rgb): number {
  const [a, b] = [luminanceOf(one), luminanceOf(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** The smallest contrast with one of the grounds. */
export const leastContrast = (colour: Rgb, grounds: readonly Rgb[]): number =>
  Math.min(...grounds.map((ground) => contrastOf(colour, ground)));

/** @param share of the second colour, from 0 to 1 */
export const mixed = (one: Rgb, other: Rgb, share: number): Rgb =>
  one.map((byte, i) => Math.round(byte + (other[i]! - byte) * share)) as unknown as Rgb;

/** Black or white, whichever has more contrast with all grounds. */
export const extremeOn = (grounds: readonly Rgb[]): Rgb =>
  leastContrast(black, grounds) >= leastContrast(white, grounds) ? black : white;

/** The colour, or the nearest one on its way to black or white that has the contrast with all grounds. */
export function readable(colour: Rgb, grounds: readonly Rgb[], contrast = 4.5): Rgb {
  const extreme = extremeOn(grounds);
  for (let share = 0; share < 1; share += 0.05) {
    const candidate = mixed(colour, extreme, share);
    if (leastContrast(candidate, grounds) >= contrast) return candidate;
  }
  return extreme;
}

export const toCss = ([r, g, b]: Rgb): string => `rgb(${r} ${g} ${b})`;
