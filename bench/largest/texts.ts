import { limits } from '../../src/basics/limits.js'

/** Makes an input: the largest accepted one for 1, a tenth of it for .1. */
export type Maker = (share: number) => string

const chars = (share: number) => Math.floor(share * limits.statementMaxChars)
/** The rest of the statement needs a few tokens as well. */
const tokens = (share: number) => Math.floor(share * (limits.statementMaxTokens - 200))

/** A part, repeated as often as the statement's limit of characters allows. */
export const repeated =
  (before: string, part: string, after = ''): Maker =>
  (share) =>
    before + part.repeat(Math.max(1, Math.floor((chars(share) - before.length - after.length) / part.length))) + after

/** A part with a number of tokens, repeated as often as the statement's limit of tokens allows. */
export const manyTokens =
  (before: string, part: string, tokensOfPart: number, after = ''): Maker =>
  (share) => {
    const fits = Math.floor((chars(share) - before.length - after.length) / part.length)
    return before + part.repeat(Math.max(1, Math.min(Math.floor(tokens(share) / tokensOfPart), fits))) + after
  }

/** Nested brackets. */
export const nested =
  (before: string, open: string, inner: string, close: string, after = ''): Maker =>
  (share) => {
    const fits = Math.floor((chars(share) * 0.96) / (open.length + close.length))
    const depth = Math.min(Math.floor(tokens(share) / 2), fits)
    return before + open.repeat(depth) + inner + close.repeat(depth) + after
  }

/** A share of this many values, joined by commas. */
export const values =
  (count: number, value: (n: number) => string): Maker =>
  (share) =>
    Array.from({ length: Math.max(1, Math.floor(count * share)) }, (_, n) => value(n)).join(',')
