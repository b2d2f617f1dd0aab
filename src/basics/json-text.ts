import { LongWork } from './long-work.js'

/** How many items are turned into text in one turn of the event loop. */
const itemsAtOnce = 100

/** As the second argument of `JSON.stringify`. */
type Replacer = (key: string, value: unknown) => unknown

/** `atOnce`: how many items make one text. `work`: the work that this is a part of. */
type ItemOptions = { atOnce?: number; work?: LongWork; replacer?: Replacer | undefined }

/** The items of a JSON array as texts, several items per text, with commas between them. It yields to the event loop between texts. */
export async function* jsonItems(
  items: readonly unknown[],
  { atOnce = itemsAtOnce, work = new LongWork(), replacer }: ItemOptions = {},
): AsyncGenerator<string, void, void> {
  for (let from = 0; from < items.length; from += atOnce) {
    await work.pause()
    const text = JSON.stringify(items.slice(from, from + atOnce), replacer).slice(1, -1)
    yield from === 0 ? text : `,${text}`
  }
}

/**
 * The same text as `JSON.stringify(value, replacer)` in parts: a list among its members comes item by item. It yields to the event loop
 * between parts, and also before the first part, because the code that made a large value has used up this turn. The replacer gets the
 * values inside a member or an item with their keys. For the member or the item itself, it gets an empty key.
 *
 * @example for await (const part of jsonMembers({ id: 7, tools })) response.write(part)
 */
export async function* jsonMembers(value: Readonly<Record<string, unknown>>, replacer?: Replacer): AsyncGenerator<string, void, void> {
  const work = new LongWork({ goesOn: true })
  let before = '{'
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    await work.pause()
    yield `${before}${JSON.stringify(name)}:`
    before = ','
    if (Array.isArray(member)) {
      yield '['
      yield* jsonItems(member, { atOnce: 1, work, replacer })
      yield ']'
    } else yield JSON.stringify(member, replacer)
  }
  yield before === '{' ? '{}' : '}'
}

/** The same text as `JSON.stringify(items)`. Many items are converted in several turns of the event loop. */
export const jsonTextOf = async (items: readonly unknown[]): Promise<string> => {
  const texts: string[] = []
  for await (const text of jsonItems(items)) texts.push(text)
  return `[${texts.join('')}]`
}

/**
 * Whether a JSON value is nested deeper than a number of levels. Only so many are looked at: `JSON.stringify` has no room on the stack for
 * thousands of them.
 *
 * @example isNestedDeeper([[1]], 1) // true
 */
export const isNestedDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' && value !== null && (levels === 0 || Object.values(value).some((member) => isNestedDeeper(member, levels - 1)))
