import { LongWork } from './long-work.js'

/** The texts of some items at once, which others wait for. */
const itemsAtOnce = 100

/** The items of a JSON array as texts of some at once, with commas between them; others have the event loop in between. */
export async function* jsonItems(items: readonly unknown[]): AsyncGenerator<string, void, void> {
  const work = new LongWork()
  for (let from = 0; from < items.length; from += itemsAtOnce) {
    await work.pause()
    const text = JSON.stringify(items.slice(from, from + itemsAtOnce)).slice(1, -1)
    yield from === 0 ? text : `,${text}`
  }
}

/** The same text as `JSON.stringify(items)`, made in several turns of the event loop when there are many. */
export const jsonTextOf = async (items: readonly unknown[]): Promise<string> => {
  const texts: string[] = []
  for await (const text of jsonItems(items)) texts.push(text)
  return `[${texts.join('')}]`
}
