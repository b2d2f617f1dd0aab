import { LongWork } from './long-work.js'

/** How many items are turned into text in one turn of the event loop. */
const itemsAtOnce = 100

/** The items of a JSON array as texts, several items per text, with commas between them. It yields to the event loop between texts. */
export async function* jsonItems(items: readonly unknown[]): AsyncGenerator<string, void, void> {
  const work = new LongWork()
  for (let from = 0; from < items.length; from += itemsAtOnce) {
    await work.pause()
    const text = JSON.stringify(items.slice(from, from + itemsAtOnce)).slice(1, -1)
    yield from === 0 ? text : `,${text}`
  }
}

/** The same text as `JSON.stringify(items)`. Many items are converted in several turns of the event loop. */
export const jsonTextOf = async (items: readonly unknown[]): Promise<string> => {
  const texts: string[] = []
  for await (const text of jsonItems(items)) texts.push(text)
  return `[${texts.join('')}]`
}
