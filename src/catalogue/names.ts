import { foldName, type Json } from '../../events/common.js'

const partOfName = /`((?:[^`]|``)*)`|"((?:[^"]|"")*)"|([^.]+)/g

/** The parts of a name as people write it. @example partsOfName('crm."Open orders"') // ['crm', 'Open orders'] */
export const partsOfName = (name: string): string[] =>
  [...name.trim().matchAll(partOfName)].map(([, ticked, quoted, bare]) =>
    (ticked?.replaceAll('``', '`') ?? quoted?.replaceAll('""', '"') ?? bare ?? '').trim(),
  )

const isName = (value: Json): value is string => typeof value === 'string' && partsOfName(value).some((part) => part !== '')

/** A list of names: an array, or one text with commas. Entries that are no names are left out. */
export const namesIn = (value: Json | undefined): string[] => {
  const listed = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : []
  return listed.filter(isName).map((name) => name.trim())
}

/** Whether a value is a list of names and of nothing else; no value is an empty list. @example isNameList([null]) // false */
export const isNameList = (value: Json | undefined): boolean =>
  value === undefined || value === null || typeof value === 'string' || (Array.isArray(value) && value.every(isName))

/** Whether a name has a `*`, which stands for any characters. */
export const isPattern = (name: string): boolean => name.includes('*')

/**
 * Whether a name matches a pattern, compared without case. The time grows in proportion to both lengths. @example fits('sales_*',
 * 'Sales_2026') // true
 */
export const fits = (pattern: string, name: string): boolean => {
  const [wanted, given] = [foldName(pattern), foldName(name)]
  if (!isPattern(wanted)) return wanted === given
  const parts = wanted.split('*')
  const [first = '', last = ''] = [parts[0], parts.at(-1)]
  if (given.length < first.length + last.length || !given.startsWith(first) || !given.endsWith(last)) return false
  let from = first.length
  for (const part of parts.slice(1, -1)) {
    const at = given.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return from <= given.length - last.length
}
