import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { packageRoot } from './package.js'

/** The version in package.json. */
export const readVersion = (): string =>
  z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'))).version

/** A release as semver reads it. The build after a plus sign has no place in the order. */
const layout = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+.*)?$/

const isNumber = (part: string): boolean => /^\d+$/.test(part)

/** Numbers come before words. Words have the order of their characters. */
const comparePart = (a: string, b: string): number => {
  if (isNumber(a) && isNumber(b)) return Number(a) - Number(b)
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? -1 : 1
  return a < b ? -1 : Number(a > b)
}

/** The first different part decides. Of two equal beginnings, the shorter one is the smaller. */
const compareParts = (a: readonly string[], b: readonly string[]): number => {
  for (const [i, part] of a.entries()) {
    const other = b[i]
    const order = other === undefined ? 1 : comparePart(part, other)
    if (order !== 0) return order
  }
  return a.length - b.length
}

/**
 * Compares two releases in the order of semver: pre-releases come before their release. A text that is no release comes before all
 * releases.
 *
 * @example ['0.10.0', '0.9.0', '0.10.0-rc.1'].sort(compareReleases) // ['0.9.0', '0.10.0-rc.1', '0.10.0']
 */
export const compareReleases = (a: string, b: string): number => {
  const [first, second] = [layout.exec(a), layout.exec(b)]
  if (!first || !second) return Number(first !== null) - Number(second !== null)
  const numbers = compareParts(first.slice(1, 4), second.slice(1, 4))
  const [before, after] = [first[4], second[4]]
  if (numbers !== 0 || before === after) return numbers
  if (before === undefined || after === undefined) return before === undefined ? 1 : -1
  return compareParts(before.split('.'), after.split('.'))
}
